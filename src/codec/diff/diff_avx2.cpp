// SPDX-License-Identifier: BSD-3-Clause
// Word comparison, four words a step.
#include "codec/diff/diff_table.hpp"
#include "codec/diff/diff_word.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#include "codec/intrinsics.hpp"

namespace scute::core::codec {

namespace {

SCUTE_TARGET_INLINE("avx2") __m256i get(const unsigned char* p) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

SCUTE_TARGET_INLINE("avx2")
uint64_t four(const unsigned char* a, const unsigned char* b) noexcept {
  const __m256i equal = _mm256_cmpeq_epi64(get(a), get(b));
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal))) ^ 0xFU;
}

SCUTE_TARGET("avx2")
uint64_t differing(const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  uint64_t mask = 0;
  size_t i = 0;
  for (; n - i >= 128; i += 128) {
    const uint64_t low = four(a + i, b + i) | four(a + i + 32, b + i + 32) << 4;
    const uint64_t high = four(a + i + 64, b + i + 64) | four(a + i + 96, b + i + 96) << 4;
    mask |= (low | high << 8) << (i / 8);
  }
  for (; n - i >= 32; i += 32) {
    mask |= four(a + i, b + i) << (i / 8);
  }
  return mask | diff_word::differing(a, b, i, n);
}

}  // namespace

constinit const diff_table diff_avx2{"avx2", {.sse42 = true, .avx2 = true}, differing};

}  // namespace scute::core::codec

#endif
