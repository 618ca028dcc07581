// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "actor.h"

void say(const char *call, long result) {
  if (result < 0)
    printf("%s: %s\n", call, strerrorname_np(errno));
  else
    printf("%s: %ld\n", call, result);
  fflush(stdout);
}

long must(const char *call, long result) {
  if (result < 0) {
    fprintf(stderr, "actor: %s: %s\n", call, strerror(errno));
    exit(99);
  }
  return result;
}

unsigned checksum(const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  unsigned sum = 2166136261u;
  for (size_t i = 0; i < n; ++i) sum = (sum ^ at[i]) * 16777619u;
  return sum >> 1;  // say() takes positive ones
}

void fill(void *to, size_t n, unsigned seed) {
  unsigned char *at = to;
  for (size_t i = 0; i < n; ++i)
    at[i] = (unsigned char)(seed = seed * 1103515245u + 12345u, seed >> 16);
}

void *map(int fd, size_t n, int access, int flags, long offset) {
  void *at = mmap(NULL, n, access, flags, fd, offset);
  if (at == MAP_FAILED) must("mmap", -1);
  return at;
}

static const struct test_case *const all[] = {memory_cases, descriptor_cases, transfer_cases,
                                              process_cases};

// Puts the lines of a FILE.scute-unflushed into a file.
static int patch(const char *file, const char *lines) {
  FILE *to = fopen(file, "r+"), *from = fopen(lines, "r");
  if (to == NULL || from == NULL) return 1;
  char line[256];
  while (fgets(line, sizeof line, from) != NULL) {
    if (line[0] == '#') continue;
    char *hex = NULL;
    fseek(to, (long)strtoull(line, &hex, 16), SEEK_SET);
    for (unsigned byte = 0; sscanf(++hex, "%2x", &byte) == 1; ++hex) fputc((int)byte, to);
  }
  fclose(from);
  return fclose(to);
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "patch") == 0) return patch(argv[2], argv[3]);
  if (argc == 4 && strcmp(argv[1], "close_all_raw") == 0) return close_all_raw(argv[2], argv[3]);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    for (const struct test_case *d = all[i]; d->name != NULL; ++d) {
      if (argc == 2 && strcmp(argv[1], "list") == 0) puts(d->name);
      if (argc != 3 || strcmp(argv[1], d->name) != 0) continue;
      d->run(argv[2]);
      return 0;
    }
  return argc == 2 ? 0 : 98;
}
