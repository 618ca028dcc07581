// SPDX-License-Identifier: BSD-3-Clause
// [unheard|forked|awaited] FILE SECONDS [OTHER]: threads that store to lines without a pause, and one that commits these lines: what is committed has to be what
// a line was at some moment. FILE itself is looked at by a system call that nobody hears. Prints what it has seen; status 1: a line that never
// was. unheard: the threads are such as the C library does not know of. forked: all of it in a child of a process that has OTHER. awaited:
// nothing is committed before the last thread has stored once more, so that nobody else wakes it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <scute/shield_view.h>

enum { writers = 3, words = 8, page = 4096, lines_used = 67 };

struct line {
  _Alignas(64) volatile uint64_t word[words];
};
static struct line *lines;
static volatile int over;

// Word 0 first, word 7 last, both with the same number. Other words come and go, so that a line looks the same again.
static void *write_on(void *arg) {
  volatile uint64_t *const w = arg;
  for (uint64_t n = w[0] + 1; !over; ++n) {
    w[0] = n;
    w[3] = n & 1;
    w[7] = n;
  }
  return NULL;
}

// The kernel stores to the page of the first line while it is committed.
static void *read_on(void *arg) {
  const int fd = open("/dev/zero", O_RDONLY);
  long failed = 0;
  for (long n = 0; !over; ++n)
    if (read(fd, (char *)arg + page / 2, 256) <= 0) ++failed;  // (it may end early)
  close(fd);
  return (void *)failed;
}

static void *sleep_on(void *unused) {
  for (;;) pause();
  return unused;
}

// What nobody hears: an instruction of its own.
static long called(long number, long a, long b, long c, long d) {
#ifdef __x86_64__
  register long fourth __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number, a, b, c, d);
#endif
}

// One that the C library does not know of.
static int write_unheard(void *arg) {
  write_on(arg);
  _exit(0);
}

int main(int argc, char **argv) {
  const int unheard = argc == 4 && strcmp(argv[1], "unheard") == 0;
  const int forked = argc == 5 && strcmp(argv[1], "forked") == 0;
  const int awaited = argc == 4 && strcmp(argv[1], "awaited") == 0;
  if (unheard || forked || awaited)
    ++argv;
  else if (argc != 3)
    return 98;
  void *at = NULL;
  uint64_t size = 0;
  if (forked) {  // its numbers of threads would be right for a child that took them for its own
    pthread_t idle;
    if (scute_shield_map(argv[3], &at, &size) != 0) return 99;
    scute_shield_commit(at, page);
    pthread_create(&idle, NULL, sleep_on, NULL);
    const pid_t child = fork();
    int status = 0;
    if (child != 0) {
      if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 96;
      return WEXITSTATUS(status);
    }
  }
  // Of FILE itself.
  const long fd = called(SYS_openat, AT_FDCWD, (long)argv[1], O_RDONLY, 0);
  if (fd < 0 || scute_shield_map(argv[1], &at, &size) != 0) {
    fprintf(stderr, "%s: %s\n", argv[1], scute_shield_errormsg());
    return 99;
  }
  lines = at;
  memset(at, 0, lines_used * sizeof(struct line));
  pthread_t threads[writers + 1];
  pid_t children[writers];
  for (int i = 0; i < writers; ++i) {
    void *const line =
        (void *)lines[i + (i == writers - 1 ? 64 : 0)].word;  // the last one's is in another page
    static char stacks[writers][1 << 16] __attribute__((aligned(16)));
    if (unheard)
      children[i] = clone(write_unheard, stacks[i] + sizeof stacks[i], CLONE_VM | SIGCHLD, line);
    else
      pthread_create(&threads[i], NULL, write_on, line);
  }
  if (!unheard) pthread_create(&threads[writers], NULL, read_on, at);
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  long commits = 0, torn = 0;
  do {
    scute_shield_commit(at, lines_used * sizeof(struct line));
    ++commits;
    for (const uint64_t stored = lines[64 + writers - 1].word[7];
         awaited && lines[64 + writers - 1].word[7] == stored;)
      sched_yield();
    for (int i = 0; i < writers; ++i) {
      uint64_t seen[words];
      const long offset = 64 * (i + (i == writers - 1 ? 64 : 0));
      if (called(SYS_pread64, fd, (long)seen, sizeof seen, offset) != sizeof seen) return 97;
      // Between the two stores the first is one ahead.
      if (seen[0] != seen[7] && seen[0] != seen[7] + 1) ++torn;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec < atol(argv[2]));
  over = 1;
  void *failed = NULL;
  for (int i = 0; i < writers && unheard; ++i) waitpid(children[i], NULL, 0);
  for (int i = 0; i <= writers && !unheard; ++i) pthread_join(threads[i], &failed);
  printf("%ld commits, %ld torn lines, %ld failed reads\n", commits, torn, (long)failed);
  return torn != 0 || failed != NULL;
}
