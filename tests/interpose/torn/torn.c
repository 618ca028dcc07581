// SPDX-License-Identifier: BSD-3-Clause
// [unintercepted|raw|forked|awaited] FILE SECONDS [OTHER]: threads store to lines without a pause,
// and one thread commits these lines. A committed line must be what the line was at some moment. An
// unintercepted system call reads FILE itself. Prints what it has seen; status 1: a line that never
// was.
// unintercepted: the C library does not know of the threads. raw: an instruction makes them, and
// lines that were committed within a second do not count. forked: all of it in a child of a process
// that has OTHER. awaited: nothing is committed before the last thread has stored again, so that no
// other thread wakes it.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <scute/shield_view.h>

#include "../pass_through_call.h"

enum { writers = 3, words = 8, page = 4096, lines_used = 67 };

struct line {
  _Alignas(64) volatile uint64_t word[words];
};
static struct line *lines;
static volatile int over;

// Stores the same number to word 0 first and to word 7 last. Other words come and go, so that a
// line looks the same again.
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

// One that the C library does not know of.
static int write_unintercepted(void *arg) {
  write_on(arg);
  _exit(0);
}

// The shield does not intercept this one either.
static void begin_raw(void *(*f)(void *), void *arg, void *stack_end) {
#ifdef __x86_64__
  enum {
    vm = 0x100,
    fs = 0x200,
    files = 0x400,
    handlers = 0x800,
    thread = 0x10000,
    undo = 0x40000
  };
  uintptr_t *const stack = (uintptr_t *)stack_end - 2;
  stack[0] = (uintptr_t)f;
  stack[1] = (uintptr_t)arg;
  long result;
  __asm__ volatile(
      "syscall\n\t"
      "test %0, %0\n\t"
      "jnz 1f\n\t"
      "pop %%rax\n\t"
      "pop %%rdi\n\t"
      "call *%%rax\n\t"
      "mov $60, %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "syscall\n"
      "1:"
      : "=a"(result)
      : "0"((long)SYS_clone), "D"((long)(vm | fs | files | handlers | thread | undo)), "S"(stack)
      : "rcx", "r11", "memory");
  if (result < 0) _exit(95);
#else
  (void)f, (void)arg, (void)stack_end;
  _exit(94);
#endif
}

int main(int argc, char **argv) {
  const int unintercepted = argc == 4 && strcmp(argv[1], "unintercepted") == 0;
  const int raw = argc == 4 && strcmp(argv[1], "raw") == 0;
  const int forked = argc == 5 && strcmp(argv[1], "forked") == 0;
  const int awaited = argc == 4 && strcmp(argv[1], "awaited") == 0;
  if (unintercepted || raw || forked || awaited)
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
  if (raw) scute_shield_commit(at, page);  // alone for the last time
  pthread_t threads[writers + 1];
  pid_t children[writers];
  for (int i = 0; i < writers; ++i) {
    void *const line =
        (void *)lines[i + (i == writers - 1 ? 64 : 0)].word;  // the last one's is in another page
    static char stacks[writers][1 << 16] __attribute__((aligned(16)));
    if (raw)
      begin_raw(write_on, line, stacks[i] + sizeof stacks[i]);
    else if (unintercepted)
      children[i] =
          clone(write_unintercepted, stacks[i] + sizeof stacks[i], CLONE_VM | SIGCHLD, line);
    else
      pthread_create(&threads[i], NULL, write_on, line);
  }
  const int by_library = !unintercepted && !raw;
  if (by_library) pthread_create(&threads[writers], NULL, read_on, at);
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  now = begin;
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
      if (raw && now.tv_sec - begin.tv_sec < 1) continue;
      if (seen[0] != seen[7] && seen[0] != seen[7] + 1) ++torn;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec < atol(argv[2]));
  over = 1;
  void *failed = NULL;
  for (int i = 0; i < writers && unintercepted; ++i) waitpid(children[i], NULL, 0);
  for (int i = 0; i <= writers && by_library; ++i) pthread_join(threads[i], &failed);
  printf("%ld commits, %ld torn lines, %ld failed reads\n", commits, torn, (long)failed);
  return torn != 0 || failed != NULL;
}
