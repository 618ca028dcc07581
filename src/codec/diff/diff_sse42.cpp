// SPDX-License-Identifier: BSD-3-Clause
// Word comparison, two words a step.
#include "codec/diff/diff_table.hpp"
#include "codec/diff/diff_word.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#include "codec/intrinsics.hpp"

namespace scute::core::codec {

namespace {

SCUTE_TARGET("sse4.2")
uint64_t differing(const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  uint64_t mask = 0;
  size_t i = 0;
  for (; n - i >= 16; i += 16) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i));
    const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i));
    const int equal = _mm_movemask_pd(_mm_castsi128_pd(_mm_cmpeq_epi64(x, y)));
    mask |= uint64_t{static_cast<unsigned>(equal ^ 3)} << (i / 8);
  }
  return mask | diff_word::differing(a, b, i, n);
}

}  // namespace

constinit const diff_table diff_sse42{"sse4.2", {.sse42 = true}, differing};

}  // namespace scute::core::codec

#endif
