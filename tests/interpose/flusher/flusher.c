// SPDX-License-Identifier: BSD-3-Clause
// A program that maps a file and writes its lines back by its own instruction, which the shield
// cannot intercept: it must not get the file.
#define _GNU_SOURCE
#include <emmintrin.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
  if (argc != 2) return 98;
  const int fd = open(argv[1], O_RDWR);
  if (fd < 0) return 1;
  char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    perror("mmap");
    return 2;
  }
  memcpy(at, "stored", 6);
  _mm_clflush(at);
  _mm_sfence();
  return 0;
}
