// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "actor.h"

static int open_to_write(const char *file) {
  return (int)must("open", open(file, O_RDWR));
}

static void copies(const char *file) {
  const int fd = open_to_write(file);
  const int a = dup(fd), b = fcntl(fd, F_DUPFD, 40), c = dup2(fd, 60), d = dup3(fd, 61, O_CLOEXEC);
  say("dup", a >= 0);
  say("F_DUPFD", b);
  say("dup2", c);
  say("dup3", d);
  say("write", write(fd, "one position", 12));
  say("lseek of a copy", lseek(a, 0, SEEK_CUR));
  close(fd);
  say("write through a copy", write(b, " for all", 8));
  close(a);
  close(b);
  say("pwrite through the next", pwrite(c, "and here", 8, 4000));
  say("dup2 over it", dup2(c, 61));
  close(c);
  say("fdatasync of the last", fdatasync(61));
  say("close", close(61));
  say("close again", close(61));
}

// The numbers are the program's: the lowest that is free, and any that it names.
static void numbers(const char *file) {
  const int fd = open_to_write(file);
  say("open", fd);
  const int other = open("/dev/null", O_RDONLY);
  say("open of something else", other);
  close(other);
  for (int to = 3; to < 64; ++to) {
    if (to == fd) continue;
    say("dup2 to", dup2(fd, to));
    say("pwrite", pwrite(to, "there", 5, to * 64));
  }
  for (int to = 3; to < 64; ++to) say("close", close(to));
  const int again = open_to_write(file);
  say("open again", again);
  say("pwrite", pwrite(again, "again", 5, 8192));
  close(again);
}

static void facts(const char *file) {
  const int fd = open_to_write(file);
  struct stat by_descriptor, by_path;
  must("fstat", fstat(fd, &by_descriptor));
  must("stat", stat(file, &by_path));
  say("same inode", by_descriptor.st_ino == by_path.st_ino);
  say("same device", by_descriptor.st_dev == by_path.st_dev);
  say("same mode", by_descriptor.st_mode == by_path.st_mode);
  say("same owner",
      by_descriptor.st_uid == by_path.st_uid && by_descriptor.st_gid == by_path.st_gid);
  say("links", (long)by_descriptor.st_nlink);
  say("size", (long)by_descriptor.st_size);
  struct statx more;
  say("statx", statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more));
  say("same inode", more.stx_ino == by_path.st_ino);
  say("fstatat", fstatat(fd, "", &by_descriptor, AT_EMPTY_PATH));
  say("same inode", by_descriptor.st_ino == by_path.st_ino);
  say("fchmod", fchmod(fd, 0640));
  must("stat", stat(file, &by_path));
  say("mode", by_path.st_mode & 0777);
  struct statvfs on, named;
  say("fstatvfs", fstatvfs(fd, &on));
  must("statvfs", statvfs(file, &named));
  say("same file system", on.f_fsid == named.f_fsid && on.f_blocks == named.f_blocks);
  struct statfs kind, named_kind;
  say("fstatfs", fstatfs(fd, &kind));
  must("statfs", statfs(file, &named_kind));
  say("same kind", kind.f_type == named_kind.f_type);
  say("F_GET_SEALS", fcntl(fd, F_GET_SEALS));
  say("F_ADD_SEALS", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
  say("access mode", fcntl(fd, F_GETFL) & O_ACCMODE);
  say("end", lseek(fd, 0, SEEK_END));
  close(fd);
}

static void flocks(const char *file) {
  const int a = open_to_write(file), b = open_to_write(file);
  say("flock", flock(a, LOCK_EX | LOCK_NB));
  say("flock of another open file", flock(b, LOCK_EX | LOCK_NB));
  const int copy = dup(a);
  say("flock of a copy", flock(copy, LOCK_EX | LOCK_NB));
  close(a);
  say("flock while the copy is there", flock(b, LOCK_SH | LOCK_NB));
  close(copy);
  say("flock after it has gone", flock(b, LOCK_SH | LOCK_NB));
  close(b);
}

static void record_locks(const char *file) {
  const int a = open_to_write(file), b = open_to_write(file);
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 10};
  say("F_OFD_SETLK", fcntl(a, F_OFD_SETLK, &l));
  struct flock m = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 105, .l_len = 1};
  say("F_OFD_SETLK of the same bytes", fcntl(b, F_OFD_SETLK, &m));
  say("F_OFD_GETLK", fcntl(b, F_OFD_GETLK, &m));
  say("type", m.l_type);
  say("start", (long)m.l_start);
  lseek(b, 200, SEEK_SET);
  struct flock n = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = -95, .l_len = 1};
  say("F_OFD_SETLK from the position", fcntl(b, F_OFD_SETLK, &n));
  struct flock p = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 300, .l_len = 10};
  say("F_SETLK", fcntl(a, F_SETLK, &p));
  say("lockf", lockf(b, F_TLOCK, 10));
  close(a);
  close(b);
}

static void streams(const char *file) {
  FILE *f = fopen(file, "r+");
  if (f == NULL) must("fopen", -1);
  fseek(f, 1000, SEEK_SET);
  say("fputs", fputs("by stdio", f) >= 0);
  fseek(f, 2000, SEEK_SET);
  char room[64];
  say("fread", (long)fread(room, 1, sizeof room, f));
  say("read", checksum(room, sizeof room));
  say("fclose", fclose(f));
  f = fopen(file, "a");
  if (f == NULL) must("fopen", -1);
  fprintf(f, "%d at the end\n", 17);
  fclose(f);
  struct stat s;
  must("stat", stat(file, &s));
  say("size", (long)s.st_size);
}

// As daemons do.
static void all_closed(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  for (int i = 3; i < 2000; ++i) close(i);
  fill(at + 3 * page, 100, 21);
  say("msync", msync(at, file_size, MS_SYNC));
  say("close_range", close_range(3, ~0u, 0));
  fill(at + 4 * page, 100, 22);
  say("munmap", munmap(at, file_size));
  const int again = open_to_write(file);
  say("the lowest number", again);
  char room[100];
  say("pread", pread(again, room, sizeof room, 4 * page));
  say("read", checksum(room, sizeof room));
  close(again);
}

static void many_opens(const char *file) {
  for (int i = 0; i < 40; ++i) {
    const int fd = open_to_write(file);
    say("pwrite", pwrite(fd, &i, sizeof i, 1024 * i));
    close(fd);
  }
}

// A file is opened by the name of one of its descriptors.
static void opened_again_by_number(const char *file) {
  const int fd = open_to_write(file);
  char name[64], room[400];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const int again = (int)must("open", open(name, O_RDWR));
  say("pread", pread(again, room, sizeof room, 5 * page));
  say("read", checksum(room, sizeof room));
  char *at = map(again, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  say("mapped", checksum(at, file_size));
  close(fd);
  fill(at + 7 * page, 300, 61);
  say("pwrite", pwrite(again, "by number", 9, file_size + 100));
  struct stat s;
  say("fstat", fstat(again, &s));
  say("size", (long)s.st_size);
  say("flock", flock(again, LOCK_EX | LOCK_NB));
  munmap(at, file_size);
  say("fsync", fsync(again));
  say("close", close(again));
}

// The C library reads standard input by itself.
static void standard_input(const char *file) {
  const int fd = open_to_write(file);
  say("dup2", dup2(fd, 0));
  char room[3000];
  say("fread", (long)fread(room, 1, sizeof room, stdin));
  say("read", checksum(room, sizeof room));
  fclose(stdin);
  say("close", close(fd));
  say("open", open(file, O_RDWR));
  FILE *const in = fdopen(0, "r+");
  say("fread", (long)fread(room, 1, sizeof room, in));
  say("read", checksum(room, sizeof room));
  fclose(in);
  FILE *const out = fopen("/dev/null", "r+");
  FILE *const there = freopen(file, "r+", out);
  say("freopen", there != NULL);
  fseek(there, 9000, SEEK_SET);
  say("fputs", fputs("by stdio", there) >= 0);
  FILE *const again = freopen(NULL, "r", there);
  say("freopen of the same", again != NULL);
  if (again == NULL) return;
  fseek(again, 9000, SEEK_SET);
  say("fread", (long)fread(room, 1, 8, again));
  say("read", checksum(room, 8));
  fclose(again);
}

const struct test_case descriptor_cases[] = {{"copies", copies},
                                             {"numbers", numbers},
                                             {"facts", facts},
                                             {"flocks", flocks},
                                             {"record_locks", record_locks},
                                             {"streams", streams},
                                             {"all_closed", all_closed},
                                             {"many_opens", many_opens},
                                             {"opened_again_by_number", opened_again_by_number},
                                             {"standard_input", standard_input},
                                             {NULL, NULL}};
