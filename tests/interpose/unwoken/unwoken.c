// SPDX-License-Identifier: BSD-3-Clause
// FILE: a thread waits to store to a page that is held. The page is released without waking the
// thread, as the kernel may do (STORE-5). The thread must store again; status 1: it does not within
// twenty seconds. The page is held and released through the runtime's own userfaultfd, which no
// function of the C library gives to a program.
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <scute/shield_view.h>

#include "../../support/wait.h"
#include "../pass_through_call.h"

enum { page = 4096, descriptors = 1 << 20 };

static volatile int over;
static volatile pid_t storer;

static void *store_on(void *arg) {
  volatile uint64_t *const word = arg;
  storer = gettid();
  while (!over) ++*word;
  return NULL;
}

static int userfault_of_runtime(void) {
  for (int fd = 0; fd < descriptors; ++fd) {
    char name[64], target[64] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (called(SYS_readlink, (long)name, (long)target, sizeof target - 1, 0) > 0 &&
        strstr(target, "[userfaultfd]") != NULL)
      return fd;
  }
  return -1;
}

// Whether the word becomes another within twenty seconds.
static int changes(const volatile uint64_t *word) {
  const uint64_t before = *word;
  for (int i = 0; i < 20000 && *word == before; ++i) pause_us(1000);
  return *word != before;
}
// The thread that stores is off the processors, time and again: it waits.
static int storer_waits(void) {
  char name[64], text[400] = "";
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", storer);
  FILE *const stat = fopen(name, "r");
  const size_t n = stat != NULL ? fread(text, 1, sizeof text - 1, stat) : 0;
  if (stat != NULL) fclose(stat);
  const char *const end = n != 0 ? strrchr(text, ')') : NULL;
  return end != NULL && strchr("SD", end[2]) != NULL;
}
// Ten times: the runtime wakes it in between, and it faults again.
static int stays(const volatile uint64_t *word) {
  const uint64_t before = *word;
  for (int i = 0; i < 10; ++i) WAIT_UNTIL(storer_waits());
  return *word == before;
}

int main(int argc, char **argv) {
  void *at = NULL;
  uint64_t size = 0;
  if (argc != 2) return 98;
  if (scute_shield_map(argv[1], &at, &size) != 0) {
    fprintf(stderr, "%s: %s\n", argv[1], scute_shield_errormsg());
    return 99;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, store_on, at);
  const volatile uint64_t *const word = at;
  if (!changes(word)) return 97;
  scute_shield_commit(at, page);  // from now on the runtime checks on waiting threads
  const int fd = userfault_of_runtime();
  if (fd < 0) return 96;
  struct uffdio_writeprotect request = {{(uintptr_t)at, page}, UFFDIO_WRITEPROTECT_MODE_WP};
  if (called(SYS_ioctl, fd, UFFDIO_WRITEPROTECT, (long)&request, 0) != 0) return 95;
  if (!stays(word)) return 94;
  request.mode = UFFDIO_WRITEPROTECT_MODE_DONTWAKE;
  if (called(SYS_ioctl, fd, UFFDIO_WRITEPROTECT, (long)&request, 0) != 0) return 93;
  if (!changes(word)) {
    puts("no thread wakes the waiting one");
    fflush(stdout);
    _exit(1);
  }
  over = 1;
  pthread_join(thread, NULL);
  puts("stored again");
  return 0;
}
