// SPDX-License-Identifier: BSD-3-Clause
// Adler-32 sums, 64 bytes a step with AVX2.
#include "codec/checksum/adler32_table.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#include <array>

#include "codec/intrinsics.hpp"

namespace scute::core::codec {

namespace {

#define SCUTE_ADLER_ISA "avx2"
#define SCUTE_ADLER_INLINE SCUTE_TARGET_INLINE(SCUTE_ADLER_ISA)

// 64, 63, ... 1, then zeros. Loaded from index 64 - k it weighs the next k bytes by their distance
// to the end and drops the bytes after them, so a short piece needs no copy and no branch per byte.
alignas(64) constexpr auto weights = [] {
  std::array<signed char, 96> w{};
  for (unsigned i = 0; i < 64; ++i) {
    w[i] = static_cast<signed char>(64 - i);
  }
  return w;
}();

SCUTE_ADLER_INLINE __m256i bytes_at(const unsigned char* p) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

SCUTE_ADLER_INLINE __m256i weights_at(size_t i) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights.data() + i));
}

SCUTE_ADLER_INLINE uint64_t sum64(__m256i v) noexcept {
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))));
}

SCUTE_ADLER_INLINE __m256i widen32(__m256i v) noexcept {
  const __m256i zero = _mm256_setzero_si256();
  return _mm256_add_epi64(_mm256_unpacklo_epi32(v, zero), _mm256_unpackhi_epi32(v, zero));
}

struct sums64 {
  uint64_t plain;
  uint64_t weighted;
};

// `n` is a multiple of 64, at most block_max, which keeps the 32-bit lanes of `products` from
// overflowing.
constexpr size_t block_max = 64 * 1024;

SCUTE_ADLER_INLINE sums64 whole_steps(const unsigned char* p, size_t n) noexcept {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i first = weights_at(0);
  const __m256i second = weights_at(32);
  __m256i plain = zero;
  __m256i earlier =
      zero;  // the sum of `plain` before each step: those bytes are 64 further from the end
  __m256i products = zero;
  for (size_t i = 0; i < n; i += 64) {
    const __m256i x = bytes_at(p + i);
    const __m256i y = bytes_at(p + i + 32);
    earlier = _mm256_add_epi64(earlier, plain);
    plain = _mm256_add_epi64(plain,
                             _mm256_add_epi64(_mm256_sad_epu8(x, zero), _mm256_sad_epu8(y, zero)));
    // 255 * (64 + 63) still fits a signed 16-bit lane, but not the sum of two of them.
    products = _mm256_add_epi32(products, _mm256_madd_epi16(_mm256_maddubs_epi16(x, first), ones));
    products = _mm256_add_epi32(products, _mm256_madd_epi16(_mm256_maddubs_epi16(y, second), ones));
  }
  return {sum64(plain), 64 * sum64(earlier) + sum64(widen32(products))};
}

// 32 bytes are readable at p, the first `n` of them count, n <= 32.
SCUTE_ADLER_INLINE sums64 part_step(const unsigned char* p, size_t n) noexcept {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i w = weights_at(64 - n);
  const __m256i x = _mm256_and_si256(bytes_at(p), _mm256_cmpgt_epi8(w, zero));
  const __m256i products = _mm256_madd_epi16(_mm256_maddubs_epi16(x, w), _mm256_set1_epi16(1));
  return {sum64(_mm256_sad_epu8(x, zero)), sum64(widen32(products))};
}

SCUTE_TARGET(SCUTE_ADLER_ISA) adler32_sums sums(const unsigned char* p, size_t n) noexcept {
  uint64_t plain = 0;
  uint64_t weighted = 0;
  if (n < 32) {
    for (size_t i = 0; i < n; ++i) {
      plain += p[i];
      weighted += plain;
    }
    return {static_cast<uint32_t>(plain), static_cast<uint32_t>(weighted % adler32_modulus)};
  }
  // Short pieces first, while 32 bytes are sure to be readable.
  while (n % 64 != 0) {
    const size_t piece = n % 32 != 0 ? n % 32 : 32;
    const sums64 s = part_step(p, piece);
    weighted += plain * piece + s.weighted;
    plain += s.plain;
    p += piece;
    n -= piece;
  }
  while (n > 0) {
    const size_t block = n < block_max ? n : block_max;
    const sums64 s = whole_steps(p, block);
    weighted = (weighted + plain * block + s.weighted) % adler32_modulus;
    plain = (plain + s.plain) % adler32_modulus;
    p += block;
    n -= block;
  }
  return {static_cast<uint32_t>(plain % adler32_modulus),
          static_cast<uint32_t>(weighted % adler32_modulus)};
}

}  // namespace

constinit const adler32_table adler32_avx2{"avx2", {.sse42 = true, .avx2 = true}, sums};

}  // namespace scute::core::codec

#endif
