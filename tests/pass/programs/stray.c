// SPDX-License-Identifier: BSD-3-Clause
// The recorder finds a store that was not reported, and does not blame the stores next to it.
//
// options: detect
// flags: -mclwb
// shadow: stray +128
#include <immintrin.h>

#include "view.h"

int main(void) {
  char *v = view_map();
  *(volatile long *)v = 1;
  // The constraints say nothing of this store.
  __asm__ volatile("movq $1, (%0)" : : "r"(v + 128) : "memory");
  *(volatile long *)(v + 192) = 1;
  _mm_clwb(v);
  _mm_sfence();
  return 0;
}
