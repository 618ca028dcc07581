// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "actor.h"

static int open_to_write(const char *file) {
  return (int)must("open", open(file, O_RDWR));
}

static void reads_and_writes(const char *file) {
  const int fd = open_to_write(file);
  char a[300], b[700];
  fill(a, sizeof a, 31);
  fill(b, sizeof b, 32);
  say("write", write(fd, a, sizeof a));
  say("pwrite", pwrite(fd, b, sizeof b, 5000));
  const struct iovec two[] = {{a, sizeof a}, {b, sizeof b}};
  say("writev", writev(fd, two, 2));
  say("pwritev", pwritev(fd, two, 2, 9000));
  say("pwritev2", pwritev2(fd, two, 2, 12000, 0));
  say("lseek", lseek(fd, 4990, SEEK_SET));
  struct iovec into[] = {{b, sizeof b}, {a, sizeof a}};
  say("readv", readv(fd, into, 2));
  say("read", checksum(b, sizeof b) ^ checksum(a, sizeof a));
  say("preadv", preadv(fd, into, 2, 8990));
  say("read", checksum(b, sizeof b) ^ checksum(a, sizeof a));
  say("a raw system call", syscall(SYS_pwrite64, fd, b, sizeof b, 20000));
  char *at = map(fd, file_size, PROT_READ, MAP_SHARED, 0);
  say("mapped", checksum(at, file_size));
  munmap(at, file_size);
  close(fd);
}

static void longer(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  say("ftruncate", ftruncate(fd, file_size + 1000));
  say("end", lseek(fd, 0, SEEK_END));
  say("write past it", write(fd, "appended", 8));
  say("posix_fallocate", posix_fallocate(fd, file_size + 2000, 3000));
  say("fallocate", fallocate(fd, 0, 0, file_size + 6000));
  say("fallocate of blocks", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, file_size + 9000));
  say("pwrite", pwrite(fd, "far", 3, file_size + 7000));
  fill(at, 100, 33);
  char *more = map(fd, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file_size);
  fill(more + 500, 100, 34);
  say("end", lseek(fd, 0, SEEK_END));
  struct stat s;
  must("stat", stat(file, &s));
  say("size", (long)s.st_size);
  say("truncate", truncate(file, file_size + 8000));
  say("end", lseek(fd, 0, SEEK_END));
  munmap(at, file_size);
  munmap(more, 2 * page);
  close(fd);
}

static void appended(const char *file) {
  const int fd = (int)must("open", open(file, O_WRONLY | O_APPEND));
  for (int i = 0; i < 100; ++i) {
    char line[64];
    const int n = snprintf(line, sizeof line, "line %d\n", i);
    must("write", write(fd, line, (size_t)n));
  }
  say("end", lseek(fd, 0, SEEK_END));
  say("fsync", fsync(fd));
  close(fd);
}

static void holes(const char *file) {
  const int fd = open_to_write(file);
  say("punch", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * page, 3 * page));
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  say("read", checksum(at, file_size));
  fill(at + 3 * page, 64, 35);
  munmap(at, file_size);
  close(fd);
}

static void copied(const char *file) {
  const int fd = open_to_write(file);
  char name[] = "copy-XXXXXX";
  const int other = (int)must("mkstemp", mkstemp(name));
  must("unlink", unlink(name));
  char room[1000];
  fill(room, sizeof room, 36);
  must("pwrite", pwrite(fd, room, sizeof room, 100));
  off_t from = 50, to = 0;
  long total = 0;
  while (total < 2000) {
    const ssize_t n = copy_file_range(fd, &from, other, &to, (size_t)(2000 - total), 0);
    if (n <= 0) must("copy_file_range", -1);
    total += n;
  }
  say("copy_file_range out", total);
  must("pread", pread(other, room, sizeof room, 0));
  say("read", checksum(room, sizeof room));
  from = 0;
  to = 9000;
  for (total = 0; total < 1000;) {
    const ssize_t n = copy_file_range(other, &from, fd, &to, (size_t)(1000 - total), 0);
    if (n <= 0) must("copy_file_range", -1);
    total += n;
  }
  say("copy_file_range in", total);
  from = 100;
  lseek(other, 0, SEEK_SET);
  say("sendfile out", sendfile(other, fd, &from, 3000));
  lseek(fd, 30000, SEEK_SET);
  from = 0;
  say("sendfile in", sendfile(fd, other, &from, 3000));
  say("end of the copy", lseek(other, 0, SEEK_END));
  say("copy_file_range of nothing", copy_file_range(fd, &from, other, &to, 0, 0));
  close(other);
  close(fd);
}

// Arguments that point nowhere are the kernel's to refuse.
static void bad_arguments(const char *file) {
  const int fd = open_to_write(file);
  int ends[2];
  must("pipe", pipe(ends));
  void *const nothing = map(-1, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
  const struct iovec *const nowhere = nothing;
  off_t *const no_offset = nothing;
  for (int turn = 0; turn < 2; ++turn) {
    const int in = turn == 0 ? ends[0] : fd, out = turn == 0 ? ends[1] : fd;
    must("write", write(ends[1], "some", 4));
    say("readv", readv(in, nowhere, 1));
    say("readv of too many", readv(in, nowhere, 1000000));
    say("writev", writev(out, nowhere, 1));
    say("read", read(in, nothing, 4));
    say("write", write(out, nothing, 4));
  }
  say("preadv", preadv(fd, nowhere, 2, 0));
  say("pwritev", pwritev(fd, nowhere, 2, 0));
  say("sendfile", sendfile(ends[1], fd, no_offset, 10));
  say("copy_file_range", copy_file_range(fd, no_offset, fd, no_offset, 10, 0));
  say("splice", splice(fd, no_offset, ends[1], NULL, 10, 0));
  munmap(nothing, page);
  close(fd);
}

static void appended_by_flags(const char *file) {
  const int fd = open_to_write(file);
  char room[700];
  fill(room, sizeof room, 51);
  const struct iovec one = {room, sizeof room};
  say("RWF_APPEND", pwritev2(fd, &one, 1, 100, RWF_APPEND));
  say("end", lseek(fd, 0, SEEK_END));
  lseek(fd, 10, SEEK_SET);
  say("F_SETFL", fcntl(fd, F_SETFL, O_APPEND));
  say("write", write(fd, room, 300));
  say("end", lseek(fd, 0, SEEK_END));
  say("F_SETFL", fcntl(fd, F_SETFL, 0));
  lseek(fd, 10, SEEK_SET);
  say("write", write(fd, room, 200));
  say("end", lseek(fd, 0, SEEK_END));
  close(fd);
}

// Holes that the program makes among pages that it has used, and uses again.
static void punched(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  say("read", checksum(at, file_size));
  must("punch", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4 * page, 16 * page));
  say("MADV_REMOVE", madvise(at + 30 * page, 8 * page, MADV_REMOVE));
  for (int turn = 0; turn < 50; ++turn) {
    must("msync", msync(at, file_size, MS_SYNC));
    say("read", checksum(at + turn % 3 * page, file_size - 3 * page));
    at[turn % 64 * page + 9] = (char)turn;
  }
  munmap(at, file_size);
  close(fd);
}

static volatile sig_atomic_t too_long = 0;
static void count_too_long(int signal) {
  (void)signal;
  ++too_long;
}
// A refused call does not change the length.
static void refused_lengths(const char *file) {
  const int fd = open_to_write(file);
  signal(SIGXFSZ, count_too_long);
  say("a hole that is longer", fallocate(fd, FALLOC_FL_PUNCH_HOLE, file_size, page));
  say("no mode", fallocate(fd, 1 << 20, file_size, page));
  say("nothing", fallocate(fd, 0, file_size, 0));
  say("end", lseek(fd, 0, SEEK_END));
  struct rlimit before;
  must("getrlimit", getrlimit(RLIMIT_FSIZE, &before));
  const struct rlimit limit = {file_size + 100, before.rlim_max};
  must("setrlimit", setrlimit(RLIMIT_FSIZE, &limit));
  say("ftruncate", ftruncate(fd, file_size + 101));
  say("signals", too_long);
  say("truncate", truncate(file, file_size + 101));
  say("signals", too_long);
  say("fallocate", fallocate(fd, 0, file_size, 200));
  say("signals", too_long);
  say("posix_fallocate", posix_fallocate(fd, file_size + 50, 200));
  say("signals", too_long);
  say("end", lseek(fd, 0, SEEK_END));
  must("setrlimit", setrlimit(RLIMIT_FSIZE, &before));
  say("ftruncate", ftruncate(fd, file_size + 100));
  close(fd);
}

const struct test_case transfer_cases[] = {{"reads_and_writes", reads_and_writes},
                                           {"longer", longer},
                                           {"appended", appended},
                                           {"holes", holes},
                                           {"copied", copied},
                                           {"bad_arguments", bad_arguments},
                                           {"appended_by_flags", appended_by_flags},
                                           {"punched", punched},
                                           {"refused_lengths", refused_lengths},
                                           {NULL, NULL}};
