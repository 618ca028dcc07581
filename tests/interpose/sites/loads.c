/* SPDX-License-Identifier: BSD-3-Clause
 *
 * loads.c: WAY FILE: a program that loads from a mapped file. A named comment marks the line that
 * an audit has to name.
 */
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *map;
static size_t size;
static long seed; /* so that each run stores something new */

static void flush(const void *at) {
  _mm_clwb((void *)at);
}

/* A store that no constraint reports. */
static void stray(char *at) {
  __asm__ volatile("movq %1, (%0)" : : "r"(at), "r"(seed) : "memory");
}

/* Stores to every line. Loads it before its flush, before the fence, after the fence, and much
 * later. */
static void clean(void) {
  for (size_t i = 0; i < size / 64; i += 3) {
    volatile long *at = (volatile long *)(map + 64 * i);
    *at = seed + (long)i;
    if (*at != seed + (long)i) exit(10);
    flush(map + 64 * i);
    if (*at != seed + (long)i) exit(11);
    if (i % 2 == 0) _mm_sfence();
    if (*at != seed + (long)i) exit(12);
  }
  _mm_sfence();
  for (size_t i = 0; i < size / 64; i += 3)
    if (*(volatile long *)(map + 64 * i) != seed + (long)i) exit(13);
}

/* Threads store to words of the same lines and load each other's. The fence of one commits the
 * stores of others. */
enum { threads = 4, turns = 4000, lines = 16 };

static void *share(void *number) {
  long sum = 0;
  for (int i = 0; i < turns; ++i) {
    char *at = map + 64 * (i % lines);
    ((volatile long *)at)[(long)number] = seed + i;
    for (int j = 0; j < threads; ++j) sum += ((volatile long *)(map + 64 * ((i + j) % lines)))[j];
    if (i % 3 == 0) _mm_clwb(at);
    if (i % 7 == 0) _mm_sfence();
  }
  return (void *)sum;
}

static void together(void) {
  pthread_t all[threads];
  for (long i = 0; i < threads; ++i)
    if (pthread_create(&all[i], NULL, share, (void *)i) != 0) exit(14);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
}

/* By the C library, whose loads the compiler reports where it knows the function. */
static void copies(void) {
  char text[4096];
  memcpy(map + 8192, map, 4096);
  memcpy(text, map + 8192, sizeof text);
  if (memcmp(text, map, sizeof text) != 0) exit(15);
  if (msync(map, size, MS_SYNC) != 0) exit(16);
  memcpy(text, map + 8192, sizeof text);
}

/* The last bytes of a file whose length is no multiple of a line. */
static void ends(void) {
  map[size - 1] = (char)seed;
  flush(map + size - 1);
  _mm_sfence();
  if (((volatile char *)map)[size - 1] != (char)seed) exit(17);
}

/* No flush follows: without the load, only the end of the program would find it. */
static void loaded(void) {
  clean();
  stray(map + 20480);
  volatile long *at = (volatile long *)(map + 20480);
  const long found = *at; /* loaded */
  printf("made use of %d\n", found == seed);
  fflush(stdout);
  for (int i = 0; i < 100; ++i)
    if (*at != found) exit(18);
}

/* Found by a load, and then flushed: one stray. */
static void flushed(void) {
  clean();
  stray(map + 20480 + 64);
  if (*(volatile long *)(map + 20480 + 64) != seed) exit(19); /* first */
  flush(map + 20480 + 64);
  _mm_sfence();
  if (*(volatile long *)(map + 20480 + 64) != seed) exit(20);
}

/* Each page begins with its number: lib.bash, numbered(). */
static void walks(void) {
  const size_t pages = size / 4096;
  for (size_t i = 0, page = 1; i < 3 * pages; ++i, page = (page * 5 + 1) % pages) {
    /* The compiler reports the first touch. */
    char text[17] = "";
    for (int j = 0; j < 16; ++j) text[j] = ((volatile char *)map)[4096 * page + 2048 + j];
    if (strtoul(text, NULL, 10) != page) exit(22);
    if (strtoul(map + 4096 * page, NULL, 10) != page || map[4096 * page + 4095] != '\n') {
      printf("page %zu: %.15s\n", page, map + 4096 * page);
      exit(21);
    }
    if (i % 4 != 0) continue;
    map[4096 * page + 64] = (char)seed;
    flush(map + 4096 * page + 64);
    _mm_sfence();
  }
}

static const struct {
  const char *name;
  void (*call)(void);
} ways[] = {{"clean", clean},   {"together", together}, {"copies", copies}, {"ends", ends},
            {"loaded", loaded}, {"flushed", flushed},   {"walks", walks}};

int main(int argc, char **argv) {
  int file;
  if (argc != 3 || (file = open(argv[2], O_RDWR)) < 0) return 3;
  struct stat s;
  if (fstat(file, &s) != 0) return 4;
  size = (size_t)s.st_size;
  map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) return 5;
  seed = (long)getpid() << 8;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i)
    if (strcmp(argv[1], ways[i].name) == 0) {
      ways[i].call();
      return 0;
    }
  return 6;
}
