/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mapped_file.h: a program's file, created if it does not exist, and mapped as a whole: open(),
 * posix_fallocate(), mmap().
 */
#ifndef MAPPED_FILE_H
#define MAPPED_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapped_file {
  const char *name;
  int descriptor;
  char *bytes;
  uint64_t size;
};

static inline void file_fail(const struct mapped_file *file, const char *what, int why) {
  fprintf(stderr, "%s: %s: %s\n", file->name, what, strerror(why));
  exit(2);
}

static inline void file_map(struct mapped_file *file) {
  void *at = mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
  if (at == MAP_FAILED) file_fail(file, "mmap", errno);
  file->bytes = (char *)at;
}

/* The file has at least `size` bytes then; new ones are zero. */
static inline struct mapped_file file_open(const char *name, uint64_t size) {
  struct mapped_file file = {name, -1, NULL, 0};
  file.descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file.descriptor < 0) file_fail(&file, "open", errno);
  struct stat status;
  if (fstat(file.descriptor, &status) != 0) file_fail(&file, "fstat", errno);
  file.size = (uint64_t)status.st_size;
  if (file.size < size) {
    const int why = posix_fallocate(file.descriptor, 0, (off_t)size);
    if (why != 0) file_fail(&file, "posix_fallocate", why);
    file.size = size;
  }
  file_map(&file);
  return file;
}

/* Extends the file and maps it again: pointers into it are void. 0: no room, and nothing has
 * changed. */
static inline int file_grow(struct mapped_file *file, uint64_t size) {
  if (size <= file->size) return 1;
  if (posix_fallocate(file->descriptor, (off_t)file->size, (off_t)(size - file->size)) != 0)
    return 0;
  void *at = mremap(file->bytes, file->size, size, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) file_fail(file, "mremap", errno);
  file->bytes = (char *)at;
  file->size = size;
  return 1;
}

static inline void file_close(struct mapped_file *file) {
  if (munmap(file->bytes, file->size) != 0) file_fail(file, "munmap", errno);
  if (close(file->descriptor) != 0) file_fail(file, "close", errno);
}

#endif
