// SPDX-License-Identifier: BSD-3-Clause
// A program that is linked with libscute-shield.so and itself says which bytes must be durable. It
// prints the counters.
#include <inttypes.h>
#include <scute/shield_view.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, scute_shield_errormsg());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) return 98;
  void *at = NULL;
  uint64_t size = 0;
  if (scute_shield_map(argv[1], &at, &size) != 0) return failed("map");
  char *bytes = at;
  scute_shield_counts counts = {.struct_size = sizeof counts};
  for (int i = 0; i < 10; ++i) {
    memset(bytes + 4096 * i, 'a' + i, 64);
    if (scute_shield_commit(bytes + 4096 * i, 64) != 0) return failed("commit");
  }
  if (scute_shield_audit(at, &counts) != 0) return failed("audit");
  printf("alone: %" PRIu64 "\n", counts.commits);
  const uint64_t before = counts.commits;
  if (scute_shield_window_begin(at) != 0) return failed("window_begin");
  for (int i = 0; i < 10; ++i) {
    memset(bytes + 4096 * i, 'A' + i, 64);
    if (scute_shield_commit(bytes + 4096 * i, 64) != 0) return failed("commit");
  }
  if (scute_shield_window_end() != 0) return failed("window_end");
  if (scute_shield_audit(at, &counts) != 0) return failed("audit");
  printf("in a window: %" PRIu64 "\n", counts.commits - before);
  bytes[40000] = 'x';
  int unmapped = 0;
  printf("outside: %d %d\n", scute_shield_commit(&unmapped, 4), scute_shield_window_end());
  if (scute_shield_unmap(at) != 0) return failed("unmap");
  return 0;
}
