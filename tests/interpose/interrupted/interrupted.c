// SPDX-License-Identifier: BSD-3-Clause
// FILE SECONDS: one thread, whose signal handler stores to all lines of a page, commits these
// lines. A committed line must be what the line was at some moment. An unintercepted system call
// reads FILE itself. Prints what it has seen; status 1: a line that never was, or no signal in the
// time. The handler is unintercepted too, so it interrupts the commits (DEFER-5).
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <scute/shield_view.h>

#include "../pass_through_call.h"
#include "../pass_through_handler.h"

enum { words = 8, lines_used = 64 };

struct line {
  _Alignas(64) volatile uint64_t word[words];
};
static struct line *lines;
static volatile uint64_t handled;

// Between two of its runs all words of a line are the same.
static void store(int signal) {
  (void)signal;
  const uint64_t n = handled + 1;
  for (int i = 0; i < lines_used; ++i)
    for (int w = 0; w < words; ++w) lines[i].word[w] = n;
  handled = n;
}

int main(int argc, char **argv) {
  void *at = NULL;
  uint64_t size = 0;
  if (argc != 3) return 98;
  const long fd = called(SYS_openat, AT_FDCWD, (long)argv[1], O_RDONLY, 0);
  if (fd < 0 || scute_shield_map(argv[1], &at, &size) != 0) {
    fprintf(stderr, "%s: %s\n", argv[1], scute_shield_errormsg());
    return 99;
  }
  lines = at;
  memset(at, 0, sizeof(struct line) * lines_used);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = store;
  if (set_pass_through(SIGALRM, &action) != 0) return 96;
  const struct itimerval often = {{0, 30}, {0, 30}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  long commits = 0, torn = 0;
  do {
    scute_shield_commit(at, sizeof(struct line) * lines_used);
    ++commits;
    static uint64_t seen[lines_used][words];
    if (called(SYS_pread64, fd, (long)seen, sizeof seen, 0) != sizeof seen) return 97;
    for (int i = 0; i < lines_used; ++i)
      for (int w = 1; w < words; ++w)
        if (seen[i][w] != seen[i][0]) {
          ++torn;
          break;
        }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec < atol(argv[2]) || handled == 0);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%ld commits, %ld torn lines, signals came\n", commits, torn);
  return torn != 0;
}
