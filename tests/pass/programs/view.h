/* SPDX-License-Identifier: BSD-3-Clause
 *
 * view.h: memory at a fixed place, which stands for the view of a mapped file. Zero at first.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The emulator that counts instructions knows no clwb. */
#ifdef VIEW_CLFLUSH
#define view_flush _mm_clflush
#else
#define view_flush _mm_clwb
#endif

#define VIEW_BASE UINT64_C(0x1000000000)
#define VIEW_SIZE (UINT64_C(256) << 10)

static inline char *view_map(void) {
  static char *view;
  if (view) return view;
  /* Once: a runtime may have been earlier. */
  void *at = mmap((void *)VIEW_BASE, VIEW_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  (void)at;
  view = (char *)VIEW_BASE;
  return view;
}

#endif
