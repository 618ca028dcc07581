// SPDX-License-Identifier: BSD-3-Clause
// FILE: a thread waits to store to a page that is held, and the page is released without a word to it, as the kernel may (STORE-5). Has to store
// again; status 1: does not within five seconds. The page is held and released through the runtime's own userfaultfd, which
// no function of the C library gives to a program.
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

#include "../unheard_call.h"

enum { page = 4096, descriptors = 1 << 20 };

static volatile int over;

static void *store_on(void *arg) {
  volatile uint64_t *const word = arg;
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

static void wait_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

// Whether the word becomes another within five seconds, or stays for 50 ms.
static int changes(const volatile uint64_t *word) {
  const uint64_t before = *word;
  for (int i = 0; i < 5000 && *word == before; ++i) wait_ms(1);
  return *word != before;
}
static int stays(const volatile uint64_t *word) {
  const uint64_t before = *word;
  wait_ms(50);
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
  scute_shield_commit(at, page);  // from now on who waits is looked after
  const int fd = userfault_of_runtime();
  if (fd < 0) return 96;
  struct uffdio_writeprotect wish = {{(uintptr_t)at, page}, UFFDIO_WRITEPROTECT_MODE_WP};
  if (called(SYS_ioctl, fd, UFFDIO_WRITEPROTECT, (long)&wish, 0) != 0) return 95;
  if (!stays(word)) return 94;
  wish.mode = UFFDIO_WRITEPROTECT_MODE_DONTWAKE;
  if (called(SYS_ioctl, fd, UFFDIO_WRITEPROTECT, (long)&wish, 0) != 0) return 93;
  if (!changes(word)) {
    puts("nobody wakes who waits");
    fflush(stdout);
    _exit(1);
  }
  over = 1;
  pthread_join(thread, NULL);
  puts("stored again");
  return 0;
}
