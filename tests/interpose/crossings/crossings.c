// SPDX-License-Identifier: BSD-3-Clause
// Calls and accesses that cross. One thread commits, and its signal handler stores to the same
// page, reads descriptors and commits in another file. Other threads sync, close what others read,
// and unmap what others probe. Each page of the files begins with its number. Prints what it has
// done; status 1: a page had something else. It must end.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <scute/shield_view.h>

#include "../../support/wait.h"

enum { page = 4096 };

static char *first, *second;  // of two files
static int first_fd, pipe_ends[2];
static long pages;
static const char *third_name;
static volatile int over, third_fd = -1;
static char *volatile probed;
static volatile long handled, wrong, synced, closed, probes;

static unsigned next_of(unsigned *seed) {
  return (*seed = *seed * 1103515245u + 12345u) >> 8;
}

// No call of the C library's, since a handler comes here.
static void look(unsigned number, const char *has) {
  unsigned n = number;
  char want[15];
  for (int i = 14; i >= 0; --i, n /= 10) want[i] = (char)('0' + n % 10);
  for (int i = 0; i < 15; ++i)
    if (has[i] != want[i]) {
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
      return;
    }
}

static void on_alarm(int signal) {
  (void)signal;
  static unsigned seed = 3;
  const int keep = errno;
  first[64 + 8] += 1;  // the page that this thread commits
  second[64] += 1;
  scute_shield_commit(second, 128);
  unsigned number = next_of(&seed) % (unsigned)pages;
  look(number, first + (size_t)number * page);
  char room[16];
  number = next_of(&seed) % (unsigned)pages;
  if (pread(first_fd, room, sizeof room, (off_t)number * page) == sizeof room) look(number, room);
  ++handled;
  errno = keep;
}

static void *syncs(void *arg) {
  for (unsigned seed = 5; !over;) {
    const unsigned number = next_of(&seed) % (unsigned)pages;
    first[(size_t)number * page + 200] += 1;
    if (fsync(first_fd) != 0) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    ++synced;
  }
  return arg;
}

static void *opens(void *arg) {
  while (!over) {
    const int fd = open(third_name, O_RDWR);
    if (fd < 0) abort();
    third_fd = fd;
    pause_us(50);
    close(fd);
    ++closed;
  }
  return arg;
}

// Reads a number that another thread closes, so its result may be anything.
static void *reads(void *arg) {
  for (unsigned seed = 7; !over;) {
    char room[16];
    const unsigned number = next_of(&seed) % (unsigned)pages;
    (void)!pread(third_fd, room, sizeof room, (off_t)number * page);
  }
  return arg;
}

static void *maps(void *arg) {
  while (!over) {
    char *at = mmap(NULL, (size_t)pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, first_fd, 0);
    if (at == MAP_FAILED) abort();
    probed = at;
    pause_us(30);
    munmap(at, (size_t)pages * page);
  }
  return arg;
}

// The kernel touches what may not be mapped any more.
static void *asks(void *arg) {
  for (unsigned seed = 11; !over;) {
    const unsigned number = next_of(&seed) % (unsigned)pages;
    char *const at = probed;
    char room[15];
    if (at != NULL && write(pipe_ends[1], at + (size_t)number * page, 15) == 15) {
      if (read(pipe_ends[0], room, 15) != 15) abort();
      look(number, room);
    }
    ++probes;
  }
  return arg;
}

int main(int argc, char **argv) {
  if (argc != 5) return 98;
  struct stat s;
  first_fd = open(argv[1], O_RDWR);
  const int fd = open(argv[2], O_RDWR);
  third_name = argv[3];
  if (first_fd < 0 || fd < 0 || fstat(first_fd, &s) != 0 || pipe(pipe_ends) != 0) return 97;
  pages = s.st_size / page;
  first = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, first_fd, 0);
  second = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (first == MAP_FAILED || second == MAP_FAILED) return 96;
  sigset_t alarm, before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, &before);  // for this thread alone
  void *(*const all[])(void *) = {syncs, opens, reads, maps, asks};
  pthread_t threads[5];
  for (int i = 0; i < 5; ++i)
    if (pthread_create(&threads[i], NULL, all[i], NULL) != 0) return 95;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  const struct itimerval often = {{0, 250}, {0, 250}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  long commits = 0;
  do {
    first[64] += 1;
    scute_shield_commit(first + 64, 64);
    ++commits;
    clock_gettime(CLOCK_MONOTONIC, &now);
    // However little of the processors the other threads have.
  } while (now.tv_sec - begin.tv_sec < atol(argv[4]) || handled < 50 || synced < 5 || closed < 5 ||
           probes < 50);
  setitimer(ITIMER_REAL, &never, NULL);
  over = 1;
  for (int i = 0; i < 5; ++i) pthread_join(threads[i], NULL);
  printf("%ld commits, %ld handlers, %ld syncs, %ld closes, %ld probes, %ld wrong\n", commits,
         handled, synced, closed, probes, wrong);
  return wrong != 0;
}
