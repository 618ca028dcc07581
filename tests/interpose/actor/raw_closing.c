// SPDX-License-Identifier: BSD-3-Clause
// A program that closes all descriptors by a system call that the shield does not intercept, also
// those of the shield, and then has their numbers for files of its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../pass_through_call.h"
#include "actor.h"

enum { lowest = 3, low_end = 40, high = 512, high_end = 600, own_size = 5000, own_position = 7 };

static void own_text(char *to, int number) {
  memset(to, 'a' + number % 26, own_size);
}

static void take(const char *folder, int number) {
  char name[4096], text[own_size];
  snprintf(name, sizeof name, "%s/own-%d", folder, number);
  own_text(text, number);
  const int fd = (int)must("open", open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
  must("write", write(fd, text, sizeof text));
  must("lseek", lseek(fd, own_position, SEEK_SET));
  if (fd == number) return;
  must("dup3", called(SYS_dup3, fd, number, 0, 0) < 0 ? -1 : 0);
  called(SYS_close, fd, 0, 0, 0);
}

// 1 if its file is another one than before.
static int is_touched(int number) {
  char text[own_size], now[2 * own_size];
  own_text(text, number);
  struct stat s;
  if (called(SYS_lseek, number, 0, SEEK_CUR, 0) != own_position) {
    fprintf(stderr, "%d: closed, or moved\n", number);
    return 1;
  }
  if (fstat(number, &s) != 0 || s.st_size != own_size ||
      pread(number, now, sizeof now, 0) != own_size || memcmp(now, text, own_size) != 0) {
    fprintf(stderr, "%d: other bytes, %ld in all\n", number, (long)s.st_size);
    return 1;
  }
  return 0;
}

int close_all_raw(const char *file, const char *folder) {
  const int fd = (int)must("open", open(file, O_RDWR));
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  fill(at + 3 * page, 100, 21);
  must("msync", msync(at, file_size, MS_SYNC));
  called(SYS_close_range, lowest, ~0u, 0, 0);
  for (int i = lowest; i < low_end; ++i) take(folder, i);
  for (int i = high; i < high_end; ++i) take(folder, i);
  fill(at + 4 * page, 100, 22);
  say("msync", msync(at, file_size, MS_SYNC));
  const int again = open(file, O_RDWR);
  say("open again", again >= 0);
  if (again >= 0) {
    say("ftruncate", ftruncate(again, file_size + 100000));
    say("pwrite", pwrite(again, "more", 4, file_size + 200000));
    close(again);
  }
  say("munmap", munmap(at, file_size));
  int touched = 0;
  for (int i = lowest; i < low_end; ++i) touched += is_touched(i);
  for (int i = high; i < high_end; ++i) touched += is_touched(i);
  say("touched", touched);
  return touched == 0 ? 0 : 1;
}
