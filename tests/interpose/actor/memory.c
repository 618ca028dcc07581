// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actor.h"

static int open_to_write(const char *file) {
  return (int)must("open", open(file, O_RDWR));
}

static void store_and_sync(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  close(fd);
  fill(at + 100, 5000, 1);
  say("msync", msync(at, 2 * page, MS_SYNC));
  fill(at + 20 * page, 10, 2);
  say("msync of an unaligned address", msync(at + 1, page, MS_SYNC));
  say("munmap", munmap(at, file_size));
}

static void private_mapping(const char *file) {
  const int fd = open_to_write(file);
  char *mine = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0);
  char *ours = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  fill(mine, page, 3);
  fill(ours + page, page, 4);
  say("private", checksum(mine, page));
  say("shared", checksum(ours, 2 * page));
  say("fsync", fsync(fd));
  munmap(mine, file_size);
  munmap(ours, file_size);
  close(fd);
}

static void two_mappings(const char *file) {
  const int fd = open_to_write(file), other = open_to_write(file);
  char *a = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  char *b = map(other, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, 4 * page);
  fill(a + 5 * page, 300, 5);
  say("seen in the other", checksum(b + page, 300));
  fill(b + 2 * page, 300, 6);
  say("seen in the first", checksum(a + 6 * page, 300));
  char room[300];
  say("pread", pread(fd, room, sizeof room, 6 * page));
  say("read", checksum(room, sizeof room));
  munmap(a, file_size);
  fill(b + 3 * page, 300, 7);
  munmap(b, 8 * page);
  close(fd);
  close(other);
}

static void unmapped_in_parts(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  close(fd);
  fill(at, file_size, 8);
  say("munmap of the middle", munmap(at + 10 * page, 4 * page));
  fill(at, 10 * page, 9);
  fill(at + 14 * page, page, 10);
  say("munmap of the beginning", munmap(at, 10 * page));
  say("munmap of nothing", munmap(at, 10 * page));
  say("munmap at an odd address", munmap(at + 14 * page + 1, page));
  say("munmap of the rest", munmap(at + 14 * page, file_size - 14 * page));
}

static void moved_and_resized(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, 8 * page);
  fill(at, 8 * page, 11);
  char *longer = mremap(at, 8 * page, 16 * page, MREMAP_MAYMOVE);
  if (longer == MAP_FAILED) must("mremap", -1);
  say("kept", checksum(longer, 8 * page));
  fill(longer + 12 * page, page, 12);
  char *shorter = mremap(longer, 16 * page, 13 * page, 0);
  if (shorter == MAP_FAILED) must("mremap", -1);
  char *place = map(-1, 13 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
  char *moved = mremap(shorter, 13 * page, 13 * page, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  say("moved where it should be", moved == place);
  fill(moved + 2 * page, 64, 13);
  say("msync", msync(moved, 13 * page, MS_SYNC));
  munmap(moved, 13 * page);
  close(fd);
}

static void mapped_over(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  fill(at, file_size, 14);
  // Other memory over a part of it: stores to that do not reach the file.
  void *hole = mmap(at + 4 * page, 4 * page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  say("over it", hole == at + 4 * page);
  fill(at + 4 * page, 4 * page, 15);
  // Another part of the file over a part of it.
  void *again =
      mmap(at + 20 * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 40 * page);
  say("the file over itself", again == at + 20 * page);
  fill(at + 20 * page, page, 16);
  say("seen where it belongs", checksum(at + 40 * page, page));
  say("munmap", munmap(at, file_size));
  close(fd);
}

static void without_access(const char *file) {
  const int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  fill(at, 4 * page, 17);
  say("mprotect", mprotect(at, 2 * page, PROT_NONE));
  fill(at + 3 * page, 64, 18);
  say("msync", msync(at, 4 * page, MS_SYNC));
  say("mprotect", mprotect(at, page, PROT_READ));
  say("read", checksum(at, page));
  munmap(at, file_size);
  void *none = map(fd, file_size, PROT_NONE, MAP_SHARED, 0);
  munmap(none, file_size);
  close(fd);
}

static void read_only(const char *file) {
  const int fd = (int)must("open", open(file, O_RDONLY));
  void *no = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  say("a writable mapping of it", no == MAP_FAILED ? -1 : 0);
  char *at = map(fd, file_size, PROT_READ, MAP_SHARED, 0);
  say("read", checksum(at, file_size));
  say("write", write(fd, "x", 1));
  say("ftruncate", ftruncate(fd, file_size + 1));
  munmap(at, file_size);
  close(fd);
}

static void synchronous(const char *file) {
  const int fd = open_to_write(file);
  void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  say("MAP_SYNC", at == MAP_FAILED ? -1 : 0);
  close(fd);
}

static void mapped_and_closed(const char *file) {
  int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  close(fd);
  fill(at + page, page, 19);
  fd = open_to_write(file);
  char room[page];
  say("pread through a new descriptor", pread(fd, room, page, page));
  say("read", checksum(room, page));
  say("fdatasync", fdatasync(fd));
  close(fd);
  fill(at, 64, 20);
  munmap(at, file_size);
}

// A process that opens the file to read sees stores that are not flushed yet, by calls and in a
// mapping. Bytes stored past the end belong to no file. They vanish when the file is given the
// length that it has.
static void stored_behind_the_end(const char *file) {
  const int fd = open_to_write(file);
  say("longer", ftruncate(fd, file_size + 100));
  char *at = map(fd, page, PROT_READ | PROT_WRITE, MAP_SHARED, file_size);
  fill(at, 150, 23);
  say("as long", ftruncate(fd, file_size + 100));
  say("past the end", checksum(at + 100, page - 100));
  char room[page];
  say("pwrite", pwrite(fd, "x", 1, file_size + 200));
  say("pread", pread(fd, room, page, file_size));
  say("read", checksum(room, 201));
  munmap(at, page);
  close(fd);
}

static void seen_by_readers(const char *file) {
  int fd = open_to_write(file);
  char *at = map(fd, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  close(fd);
  fill(at + 3 * page, page, 21);
  fd = (int)must("open", open(file, O_RDONLY));
  char room[page];
  say("pread", pread(fd, room, page, 3 * page));
  say("read", checksum(room, page));
  const char *seen = map(fd, file_size, PROT_READ, MAP_SHARED, 0);
  say("seen in a mapping", checksum(seen + 3 * page, page));
  close(fd);
  fill(at + 4 * page, page, 22);
  say("seen later", checksum(seen + 4 * page, page));
  munmap((void *)seen, file_size);
  munmap(at, file_size);
}

const struct test_case memory_cases[] = {{"store_and_sync", store_and_sync},
                                         {"private_mapping", private_mapping},
                                         {"two_mappings", two_mappings},
                                         {"unmapped_in_parts", unmapped_in_parts},
                                         {"moved_and_resized", moved_and_resized},
                                         {"mapped_over", mapped_over},
                                         {"without_access", without_access},
                                         {"read_only", read_only},
                                         {"synchronous", synchronous},
                                         {"mapped_and_closed", mapped_and_closed},
                                         {"seen_by_readers", seen_by_readers},
                                         {"stored_behind_the_end", stored_behind_the_end},
                                         {NULL, NULL}};
