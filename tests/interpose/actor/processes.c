// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../support/wait.h"
#include "actor.h"

static char *mapped(const char *file) {
  const int fd = (int)must("open", open(file, O_RDWR));
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  close(fd);
  return at;
}

// Synced, stored to after that, and stored to by write(2): what is left when the process ends?
static char *three_kinds(const char *file) {
  char *at = mapped(file);
  fill(at + page, page, 41);
  must("msync", msync(at, file_size, MS_SYNC));
  fill(at + 8 * page, page, 42);
  const int fd = (int)must("open", open(file, O_RDWR));
  char room[500];
  fill(room, sizeof room, 43);
  must("pwrite", pwrite(fd, room, sizeof room, 16 * page));
  return at;
}

static void exits(const char *file) {
  three_kinds(file);
  exit(3);
}
static void exits_at_once(const char *file) {
  three_kinds(file);
  _exit(4);
}
static void is_killed(const char *file) {
  three_kinds(file);
  raise(SIGKILL);
}
static void is_terminated(const char *file) {
  three_kinds(file);
  raise(SIGTERM);
}
// The kernel's own call, whatever interposes the library: a call through tables would change the
// tables of both processes.
static long raw(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}

static volatile int shared = 0;
static int keep_memory(void *unused) {
  (void)unused;
  raw(SYS_close_range, 3, ~0u, 0);
  shared = 1;
  raw_pause_us(300000);
  raw(SYS_exit_group, 0, 0, 0);
  return 0;
}

// The process is gone, and so are its descriptors. Its memory is not gone yet, since another
// process shares it. So its mappings still exist, and its locks with them.
static void is_killed_and_remembered(const char *file) {
  static _Alignas(64) char stack[65536];
  three_kinds(file);
  must("clone", clone(keep_memory, stack + sizeof stack, CLONE_VM, NULL));
  while (shared == 0) sched_yield();
  raise(SIGKILL);
}

static void faults(const char *file) {
  three_kinds(file);
  volatile int *volatile nowhere = (volatile int *)8;
  *nowhere = 1;
}
static void aborts(const char *file) {
  three_kinds(file);
  abort();
}

// Another image continues where this one has stopped.
static void executes(const char *file) {
  three_kinds(file);
  execl("/proc/self/exe", "actor", "two_mappings", file, (char *)NULL);
  must("execl", -1);
}

static void forks(const char *file) {
  char *at = three_kinds(file);
  const pid_t child = fork();
  if (child == 0) {
    say("the child reads", checksum(at, file_size));
    _exit(0);
  }
  int status = 0;
  must("waitpid", waitpid(child, &status, 0));
  say("status", status);
  fill(at + 30 * page, 100, 44);
  say("msync", msync(at, file_size, MS_SYNC));
  munmap(at, file_size);
}

// The child uses the file itself, when its parent has done with it.
static void hands_over(const char *file) {
  char *at = three_kinds(file);
  munmap(at, file_size);
  close_range(3, ~0u, 0);
  const pid_t child = fork();
  if (child == 0) {
    at = mapped(file);
    say("the child reads", checksum(at, file_size));
    fill(at + 31 * page, 100, 45);
    munmap(at, file_size);
    _exit(0);
  }
  int status = 0;
  must("waitpid", waitpid(child, &status, 0));
  say("status", status);
  at = mapped(file);
  say("the parent reads", checksum(at, file_size));
  munmap(at, file_size);
}

// The child is there already while the file is open, and uses it when its parent has closed it.
static void takes_over(const char *file) {
  int go[2];
  must("pipe", pipe(go));
  char *at = three_kinds(file);
  const pid_t child = fork();
  if (child == 0) {
    char word = 0;
    must("read", read(go[0], &word, 1));
    at = mapped(file);
    say("the child reads", checksum(at, file_size));
    fill(at + 33 * page, 100, 47);
    say("the child syncs", msync(at, file_size, MS_SYNC));
    munmap(at, file_size);
    _exit(0);
  }
  fill(at + 34 * page, 100, 48);
  munmap(at, file_size);
  close_range(go[1] + 1, ~0u, 0);  // the descriptors of three_kinds()
  must("write", write(go[1], "g", 1));
  int status = 0;
  must("waitpid", waitpid(child, &status, 0));
  say("status", status);
  at = mapped(file);
  say("the parent reads", checksum(at, file_size));
  munmap(at, file_size);
}

// A child unmaps its parent's mappings in every way. The parent had to sync them.
static void child_unmaps(const char *file) {
  for (int kind = 0; kind < 5; ++kind) {
    char *at = mapped(file);
    fill(at + (40 + kind) * page, 100, 50 + kind);
    const pid_t child = fork();
    if (child == 0) {
      switch (kind) {
        case 0: _exit(munmap(at, file_size));
        case 1: _exit(munmap(at + page, page));
        case 2: _exit(msync(at, file_size, MS_SYNC));
        case 3:
          _exit(mmap(at, file_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
                at);
        default: _exit(mremap(at, file_size, page, 0) != at);
      }
    }
    int status = 0;
    must("waitpid", waitpid(child, &status, 0));
    say("status", status);
    fill(at + (50 + kind) * page, 100, 60 + kind);
    say("munmap", munmap(at, file_size));
  }
}

static const char *mapped_by_threads;
static volatile int stop_mapping;
static void *maps_and_unmaps(void *place) {
  const long n = (long)place;
  for (int i = 0; i == 0 || !stop_mapping; ++i) {
    char *at = mapped(mapped_by_threads);
    at[n * page] = 1;
    munmap(at, file_size);
  }
  return NULL;
}

static void forks_while_threads_map(const char *file) {
  pthread_t threads[2];
  mapped_by_threads = file;
  for (long i = 0; i < 2; ++i)
    must("pthread_create", -pthread_create(&threads[i], NULL, maps_and_unmaps, (void *)(i + 60)));
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    must("waitpid", waitpid(child, &status, 0));
    if (status != 0) say("status", status);
  }
  stop_mapping = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void spawns(const char *file) {
  char *at = three_kinds(file);
  char *const argv[] = {"true", NULL};
  pid_t child = 0;
  say("posix_spawn", posix_spawnp(&child, "true", NULL, NULL, argv, environ));
  int status = 0;
  must("waitpid", waitpid(child, &status, 0));
  say("status", status);
  fill(at + 32 * page, 100, 46);
  munmap(at, file_size);
}

// A child that has this process's memory, and descriptors of its own, which it closes and replaces.
static void vforks(const char *file) {
  const int fd = (int)must("open", open(file, O_RDWR));
  const pid_t child = vfork();
  if (child == 0) {
    close(fd);
    dup2(1, fd);
    _exit(0);
  }
  int status = 0;
  say("waitpid", waitpid(child, &status, 0) == child ? status : -1);
  char room[500];
  fill(room, sizeof room, 47);
  must("pwrite", pwrite(fd, room, sizeof room, 3 * page));
  must("fsync", fsync(fd));
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  fill(at + 5 * page, page, 48);
  must("msync", msync(at, file_size, MS_SYNC));
  must("close", close(fd));
}

// Threads are cancelled in calls that go by the shield, and in those it has nothing to do with.
static const char *cancelled_file;
static void *waits_to_read(void *pipe) {
  char byte;
  (void)!read(((int *)pipe)[0], &byte, 1);
  return NULL;
}
static void *waits_to_write(void *pipe) {
  static char bytes[1 << 16];
  while (write(((int *)pipe)[1], bytes, sizeof bytes) > 0) {
  }
  return NULL;
}
static void *opens_on(void *unused) {
  for (;;) {
    const int fd = open(cancelled_file, O_RDONLY);
    char byte;
    (void)!pread(fd, &byte, 1, 5000);
    close(fd);
  }
  return unused;
}
// Without any other call where a thread may be cancelled.
static void *syncs_on(void *ends) {
  const int fd = ((int *)ends)[2];
  while (fsync(fd) == 0 && fdatasync(fd) == 0) continue;
  return NULL;
}
static void *closes_on(void *ends) {
  const int fd = ((int *)ends)[2];
  while (close(dup(fd)) == 0) continue;
  return NULL;
}
static void cancels(const char *file) {
  void *(*const waits[])(void *) = {waits_to_read, waits_to_write, opens_on, syncs_on, closes_on};
  cancelled_file = file;
  const int fd = (int)must("open", open(file, O_RDWR));
  int ends[3];
  must("pipe", pipe(ends));
  ends[2] = fd;
  for (int i = 0; i < 5; ++i) {
    long cancelled = 0;
    for (int turn = 0; turn < 20; ++turn) {
      pthread_t thread;
      if (pthread_create(&thread, NULL, waits[i], ends) != 0) must("pthread_create", -1);
      if (turn % 2 != 0) pause_us(500);
      pthread_cancel(thread);
      void *how = NULL;
      pthread_join(thread, &how);
      cancelled += how == PTHREAD_CANCELED;
    }
    say("cancelled", cancelled);
  }
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  fill(at + 6000, 200, 77);
  say("msync", msync(at, file_size, MS_SYNC));
}

// Children that are made by other calls than fork() read their parent's mappings, and data that it
// gives them.
static char *parents;
static int looks(void *unused) {
  (void)unused;
  _exit((int)(checksum(parents, file_size) & 127));
}
static long status_of(long child) {
  int status = 0;
  must("waitpid", waitpid((pid_t)child, &status, 0));
  return status;
}
static void children(const char *file) {
  const int fd = (int)must("open", open(file, O_RDWR));
  parents = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  static char stack[1 << 16] __attribute__((aligned(16)));
  fflush(stdout);
  long child = clone(looks, stack + sizeof stack, SIGCHLD, NULL);
  say("clone", status_of(child));
  child = _Fork();
  if (child == 0) looks(NULL);
  say("_Fork", status_of(child));
  child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) looks(NULL);
  say("a raw clone", status_of(child));
  posix_spawn_file_actions_t given;
  posix_spawn_file_actions_init(&given);
  posix_spawn_file_actions_adddup2(&given, fd, 0);
  char *const argv[] = {"cksum", NULL}, *const envp[] = {NULL};
  pid_t spawned;
  const int made = posix_spawn(&spawned, "/usr/bin/cksum", &given, NULL, argv, envp);
  const long ended = made == 0 ? status_of(spawned) : -1; /* its own output comes first */
  say("posix_spawn", made);
  say("cksum", ended);
  say("read", checksum(parents, file_size));
  munmap(parents, file_size);
  close(fd);
}

// A child of vfork() opens the file for another program, as some shells do. Its parent, which has
// opened nothing, gets the child's descriptor then.
static void child_opens(const char *file) {
  fflush(stdout);
  const pid_t child = vfork();
  if (child == 0) {
    const int fd = open(file, O_WRONLY | O_DSYNC);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) _exit(9);
    execlp("echo", "echo", "from the child", (char *)NULL);
    _exit(8);
  }
  say("child", status_of(child));
  char other_file[4096], text[16] = "";
  snprintf(other_file, sizeof other_file, "%s.other", file);
  const int other = (int)must("open", open(other_file, O_RDWR | O_CREAT | O_TRUNC, 0600));
  const int fd = (int)must("open", open(file, O_RDWR | O_DSYNC));
  say("flags", fcntl(fd, F_GETFL) & O_DSYNC);
  say("read", pread(fd, text, 14, 0));
  puts(text);
  say("write", pwrite(fd, "from the parent", 15, 100));
  say("sync", fsync(fd));
  struct stat s;
  must("fstat", fstat(other, &s));
  say("the other file", s.st_size);
  unlink(other_file);
  close(other);
  close(fd);
}

const struct test_case process_cases[] = {{"exits", exits},
                                          {"exits_at_once", exits_at_once},
                                          {"is_killed", is_killed},
                                          {"is_terminated", is_terminated},
                                          {"is_killed_and_remembered", is_killed_and_remembered},
                                          {"faults", faults},
                                          {"aborts", aborts},
                                          {"executes", executes},
                                          {"forks", forks},
                                          {"hands_over", hands_over},
                                          {"takes_over", takes_over},
                                          {"child_unmaps", child_unmaps},
                                          {"forks_while_threads_map", forks_while_threads_map},
                                          {"spawns", spawns},
                                          {"vforks", vforks},
                                          {"children", children},
                                          {"child_opens", child_opens},
                                          {"cancels", cancels},
                                          {NULL, NULL}};
