// SPDX-License-Identifier: BSD-3-Clause
// Non-temporal stores: reported after they are made, with their lengths.
//
// flags: -mavx
// shadow: none
// log: stream +0 4 main
// log: stream +8 8 main
// log: stream +16 16 main
// log: stream +32 16 main
// log: stream +64 32 main
// log: stream +128 16 main
// log: stream +144 16 main
// log: stream +160 8 main
// log: stream +168 4 main
// log: fence sfence main
// log: stream +192 16 main
// log: stream +224 16 main
// log: stream +256 16 main
// log: stream +272 16 main
// log: fence sfence main
// log: fence sfence main
#include <immintrin.h>
#include <string.h>

#include "view.h"

int main(void) {
  char *v = view_map();
  const __m128i all = _mm_set1_epi8(7);
  _mm_stream_si32((int *)v, 0x07070707);                                        // stream
  _mm_stream_si64((long long *)(v + 8), 0x0707070707070707);                    // stream
  _mm_stream_si128((__m128i *)(v + 16), all);                                   // stream
  _mm_stream_ps((float *)(v + 32), _mm_castsi128_ps(all));                      // stream
  _mm256_stream_si256((__m256i *)(v + 64), _mm256_set1_epi8(7));                // stream
  __asm__ volatile("movntdq %1, %0" : "=m"(*(__m128i *)(v + 128)) : "x"(all));  // stream
  __asm__ volatile("vmovntps %1, (%0)" : : "r"(v + 144), "x"(all) : "memory");  // stream
  __asm__ volatile("movnti %1, (%0)"
                   :
                   : "r"(v + 160), "r"(0x0707070707070707)
                   : "memory");  // stream
  __asm__ volatile("movnti %k1, %0\n\tsfence"
                   : "=m"(*(int *)(v + 168))
                   : "r"(0x07070707L));                  // stream fence
  _mm_maskmoveu_si128(all, _mm_set1_epi8(-1), v + 192);  // stream
  __asm__ volatile("maskmovdqu %2, %1"
                   :
                   : "D"(v + 224), "x"(all), "x"(_mm_set1_epi8(-1))
                   : "memory");  // stream
  __asm__ volatile(
      "movdqu (%1), %%xmm1\n\t"
      "movntdq %%xmm1, (%0)\n\t"
      "movdqu 16(%1), %%xmm1\n\t"
      "movntdq %%xmm1, 16(%0)\n\t"
      "sfence"
      :
      : "r"(v + 256), "r"(v + 16)
      : "memory", "xmm1");  // stream fence
  _mm_sfence();             // fence
  const int ranges[][2] = {{0, 4},     {8, 48},    {64, 96},  {128, 172},
                           {192, 208}, {224, 240}, {256, 288}};
  for (int i = 0; i < 7; ++i)
    for (int j = ranges[i][0]; j < ranges[i][1]; ++j)
      if (v[j] != 7) return 1;
  return 0;
}
