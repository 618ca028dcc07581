/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sites.c: WAY FILE: a program that stores to a mapped file, and flushes by its own instructions. A
 * named comment marks the line that an audit has to name. Each way stores to its own lines.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *map;
static int file;
static long seed; /* so that each run stores something new */

static void flush(const void *at) {
  _mm_clwb((void *)at);
}

static void clean(void) {
  for (int i = 0; i < 100; ++i) {
    *(volatile long *)(map + 64 * i) = seed + i;
    flush(map + 64 * i);
    _mm_sfence();
  }
}

static void forgets(void) {
  *(volatile long *)(map + 8192) = seed; /* forgotten */
  *(volatile long *)(map + 8192 + 64) = seed;
  flush(map + 8192 + 64);
  _mm_sfence();
}

static void twice(void) {
  *(volatile long *)(map + 12288) = seed;
  _mm_clwb(map + 12288);
  _mm_clwb(map + 12288); /* again */
  _mm_sfence();
}

static void vain(void) {
  _mm_clwb(map + 16384); /* in vain */
  _mm_sfence();
}

static void idle(void) {
  clean();
  _mm_sfence(); /* idle */
}

/* The constraints say nothing of this store; the flush is for its neighbour. */
static void stray(void) {
  clean();
  __asm__ volatile("movq %1, (%0)" : : "r"(map + 20480), "r"(seed) : "memory");
  _mm_clwb(map + 20480); /* stray */
  _mm_sfence();
}

/* No flush follows: msync() finds the store, and so does the check at the end. */
static void syncs(void) {
  __asm__ volatile("movq %1, (%0)" : : "r"(map + 21504), "r"(seed) : "memory");
  if (msync(map, 65536, MS_SYNC) != 0) exit(14);
}

static void leaves(void) {
  __asm__ volatile("movq %1, (%0)" : : "r"(map + 22528), "r"(seed) : "memory");
}

/* Flushed, and there is no time for a fence. */
static void dies(void) {
  __asm__ volatile("movq %1, (%0)" : : "r"(map + 23552), "r"(seed) : "memory");
  _mm_clwb(map + 23552);
  kill(getpid(), SIGKILL);
}

/* Later, code is loaded whose stores are not reported. */
static void plugs(void) {
  if (dlopen("libforeign.so", RTLD_NOW) == NULL) exit(15);
  stray();
}

/* By the C library and the kernel, which are not instrumented. */
static void library(void) {
  char text[64], *to = map + 24576;
  volatile size_t n = (size_t)snprintf(text, sizeof text, "the text of run %ld", seed) + 1;
  strcpy(to, text);
  strncpy(to + 64, text, n);
  snprintf(to + 128, 64, "%s", text);
  memcpy(to + 192, text, n);
  memset(to + 256, (int)(seed % 100) + 1, n);
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], text, n) != (ssize_t)n ||
      read(ends[0], to + 320, n) != (ssize_t)n)
    exit(10);
  if (pwrite(file, text, n, 24576 + 384) != (ssize_t)n) exit(11);
  if (lseek(file, 24576 + 448, SEEK_SET) < 0 || write(file, text, n) != (ssize_t)n) exit(12);
  for (int i = 0; i < 8; ++i) _mm_clwb(to + 64 * i);
  _mm_sfence();
}

/* Threads store to words of the same lines: one thread flushes stores that another one reports. */
enum { threads = 4, turns = 2000, lines = 8 };

static void *share(void *number) {
  for (int i = 0; i < turns; ++i) {
    char *at = map + 32768 + 64 * (i % lines);
    ((volatile long *)at)[(long)number] = seed + i;
    _mm_clwb(at);
    _mm_sfence();
  }
  return NULL;
}

static void together(void) {
  pthread_t all[threads];
  for (long i = 0; i < threads; ++i)
    if (pthread_create(&all[i], NULL, share, (void *)i) != 0) exit(13);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
}

/* Without a report. But a clflush is no fence: a store that was reported before it may come after
 * it. */
static void clflushes(void) {
  for (int i = 0; i < 100; ++i) {
    *(volatile long *)(map + 40960 + 64 * i) = seed + i;
    _mm_clflush(map + 40960 + 64 * i);
  }
}

/* No fence follows. */
static void unfenced(void) {
  clean();
  *(volatile long *)(map + 49152) = seed; /* reported last */
  _mm_clwb(map + 49152);                  /* unfenced */
}

static void streams(void) {
  _mm_stream_si64((long long *)(map + 49216), seed); /* streamed */
}

static void unmaps(void) {
  *(volatile long *)(map + 49280) = seed;
  _mm_clwb(map + 49280); /* unmapped */
  munmap(map, 65536);
}

/* The flush comes before the last store to its line. */
static void early(void) {
  *(volatile long *)(map + 49344) = seed;
  _mm_clwb(map + 49344);                  /* early */
  *(volatile long *)(map + 49352) = seed; /* after it */
  _mm_sfence();
}

/* After the store, the line is flushed again, by this thread or another one, or synced. */
static void late(void) {
  early();
  _mm_clwb(map + 49344);
  _mm_sfence();
}

/* Instructions of the processor's own that store. */
__attribute__((target("avx2,fxsr,xsave"))) static void processors(void) {
  char *at = map + 53248;
  volatile int one = -1; /* so that no compiler makes stores of them */
  const __m256i mask = _mm256_set1_epi32(one);
  _mm256_maskstore_epi32((int *)at, mask, _mm256_set1_epi32((int)seed));
  _mm256_maskstore_ps((float *)(at + 64), mask, _mm256_set1_ps((float)seed));
  _mm_maskstore_pd((double *)(at + 128), _mm_set1_epi64x(one), _mm_set1_pd((double)seed));
  _fxsave(at + 512);
  for (int i = 0; i < 16; ++i) _mm_clwb(at + 64 * i);
  _mm_sfence();
}

__attribute__((target("xsave"))) static void saves(void) {
  char *at = map + 57344;
  for (int i = 0; i < 64; ++i) {
    *(volatile long *)(at + 64 * i) = 0;
    _mm_clwb(at + 64 * i);
  }
  _mm_sfence();
  _xsave(at, 3);
  for (int i = 0; i < 64; ++i) _mm_clwb(at + 64 * i);
  _mm_sfence();
}

static const struct {
  const char *name;
  void (*call)(void);
} ways[] = {{"clean", clean},
            {"forgets", forgets},
            {"twice", twice},
            {"vain", vain},
            {"idle", idle},
            {"stray", stray},
            {"library", library},
            {"together", together},
            {"clflushes", clflushes},
            {"syncs", syncs},
            {"leaves", leaves},
            {"dies", dies},
            {"plugs", plugs},
            {"unfenced", unfenced},
            {"streams", streams},
            {"unmaps", unmaps},
            {"early", early},
            {"late", late},
            {"processors", processors},
            {"saves", saves}};

int main(int argc, char **argv) {
  if (argc != 3 || (file = open(argv[2], O_RDWR)) < 0) return 3;
  struct stat s;
  if (fstat(file, &s) != 0) return 4;
  map = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) return 5;
  seed = *(long *)(map + 65536) + 1000003;
  *(volatile long *)(map + 65536) = seed;
  _mm_clwb(map + 65536);
  _mm_sfence();
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i)
    if (strcmp(argv[1], ways[i].name) == 0) {
      ways[i].call();
      return 0;
    }
  return 6;
}
