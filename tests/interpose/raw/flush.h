/* SPDX-License-Identifier: BSD-3-Clause
 *
 * flush.h: writes lines of the cache back by the processor's own instructions: the best that it
 * has, or the requested one. Nothing here knows of the shield.
 *
 * RAW_STOP_AT=N in the environment: the program stops itself (SIGSTOP) before its N-th flush or
 * fence, so that a test can end it there. With several threads N is about.
 */
#ifndef FLUSH_H
#define FLUSH_H

#include <cpuid.h>
#include <immintrin.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum flush_kind { flush_by_clflush, flush_by_clflushopt, flush_by_clwb };

static enum flush_kind flush_kind;
static unsigned long flush_stop_at, flush_moments;

/* name: "clwb", "clflushopt", "clflush", or NULL for the best. 0: the processor lacks it. */
static inline int flush_choose(const char *name) {
  unsigned a, b = 0, c, d;
  __cpuid_count(7, 0, a, b, c, d);
  const int has_clflushopt = (b >> 23 & 1) != 0, has_clwb = (b >> 24 & 1) != 0;
  const char *stop = getenv("RAW_STOP_AT");
  flush_stop_at = stop ? strtoul(stop, NULL, 10) : 0;
  if (!name) name = has_clwb ? "clwb" : has_clflushopt ? "clflushopt" : "clflush";
  if (strcmp(name, "clwb") == 0) {
    flush_kind = flush_by_clwb;
    return has_clwb;
  }
  if (strcmp(name, "clflushopt") == 0) {
    flush_kind = flush_by_clflushopt;
    return has_clflushopt;
  }
  flush_kind = flush_by_clflush;
  return strcmp(name, "clflush") == 0;
}

/* Not by a locked instruction: that would be a fence of its own. */
static inline void flush_moment(void) {
  if (!flush_stop_at) return;
  const unsigned long now = __atomic_load_n(&flush_moments, __ATOMIC_RELAXED) + 1;
  __atomic_store_n(&flush_moments, now, __ATOMIC_RELAXED);
  if (now == flush_stop_at) raise(SIGSTOP);
}

__attribute__((target("clwb"))) static void flush_clwb(void *line) {
  _mm_clwb(line);
}
__attribute__((target("clflushopt"))) static void flush_clflushopt(void *line) {
  _mm_clflushopt(line);
}

/* All lines that have a byte in [begin, begin + length). Durable after the next fence(). */
static inline void flush(const void *begin, size_t length) {
  char *line = (char *)((uintptr_t)begin & ~(uintptr_t)63);
  for (const char *end = (const char *)begin + length; line < end; line += 64) {
    flush_moment();
    switch (flush_kind) {
      case flush_by_clwb: flush_clwb(line); break;
      case flush_by_clflushopt: flush_clflushopt(line); break;
      case flush_by_clflush: _mm_clflush(line); break;
    }
  }
}

static inline void fence(void) {
  flush_moment();
  _mm_sfence();
}

static inline void persist(const void *begin, size_t length) {
  flush(begin, length);
  fence();
}

/* One store of eight bytes, after all stores before it: a power failure leaves all of it or
 * nothing. */
static inline void store_word(uint64_t *at, uint64_t word) {
  __atomic_store_n(at, word, __ATOMIC_RELEASE);
}

#endif
