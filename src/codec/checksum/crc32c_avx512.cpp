// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C by folding 256 bytes a step with 512-bit carry-less multiplies.
//
// A 128-bit lane holds a polynomial, its first byte the highest powers. Folding moves a lane
// forward by a distance: both of its halves are multiplied by the power of x for that distance
// modulo the polynomial and the products are added to the lane that lies there. At the end the one
// lane left is reduced with the CRC32 instruction. Inputs too short to fold take the word kernel.
#include "codec/checksum/crc32c_table.hpp"
#include "codec/checksum/crc32c_word.hpp"

#if SCUTE_CODEC_X86

namespace scute::core::codec {

namespace {

using crc32c_math::power_of_x;
using crc32c_word::one_source;
using crc32c_word::xor_source;

#define SCUTE_CRC_ISA "sse4.2,pclmul,avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq"
#define SCUTE_CRC_INLINE SCUTE_TARGET_INLINE(SCUTE_CRC_ISA)

// The first half of a lane stands 64 bits further from the destination than the second. A factor in
// the low 32 bits of a half reads as x^32 times itself and reflection adds x: hence 64 - 33 and -
// 33.
struct alignas(16) fold_factors {
  uint64_t first_half;
  uint64_t second_half;
};

constexpr fold_factors factors(int distance_bytes) {
  const int64_t bits = 8 * int64_t{distance_bytes};
  return {power_of_x(bits + 31), power_of_x(bits - 33)};
}

constexpr fold_factors by_256 = factors(256);
constexpr fold_factors by_192 = factors(192);
constexpr fold_factors by_128 = factors(128);
constexpr fold_factors by_64 = factors(64);
// Folds the lanes of one register onto its last lane, which stays where it is.
alignas(64) constexpr fold_factors across[4] = {factors(48), factors(32), factors(16), {0, 0}};

SCUTE_CRC_INLINE __m512i vector_at(one_source s, size_t i) noexcept {
  return _mm512_loadu_si512(s.p + i);
}

SCUTE_CRC_INLINE __m512i vector_at(xor_source s, size_t i) noexcept {
  return _mm512_xor_si512(_mm512_loadu_si512(s.a + i), _mm512_loadu_si512(s.b + i));
}

SCUTE_CRC_INLINE __m512i all_lanes(const fold_factors& f) noexcept {
  return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(&f)));
}

// x folded by the distance of `k`, plus `next`.
SCUTE_CRC_INLINE __m512i fold(__m512i x, __m512i k, __m512i next) noexcept {
  constexpr int xor3 = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, k, 0x00),
                                   _mm512_clmulepi64_epi128(x, k, 0x11), next, xor3);
}

SCUTE_CRC_INLINE uint32_t reduce_vector(__m512i x) noexcept {
  const __m512i last = _mm512_maskz_mov_epi64(0xC0, x);
  const __m512i lanes = fold(x, _mm512_load_si512(across), last);
  const __m256i two =
      _mm256_xor_si256(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  const __m128i one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
  const uint64_t reg = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(one)));
  return static_cast<uint32_t>(
      _mm_crc32_u64(reg, static_cast<uint64_t>(_mm_extract_epi64(one, 1))));
}

// Below this many bytes the word kernel is faster (measured).
constexpr size_t fold_bytes_min = 128;

// n >= fold_bytes_min
template <class Source>
SCUTE_CRC_INLINE uint32_t fold_update(uint32_t reg, Source s, size_t n) noexcept {
  const __m512i start = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(reg)));
  const __m512i k64 = all_lanes(by_64);
  __m512i x = _mm512_xor_si512(vector_at(s, 0), start);
  size_t i = 64;
  if (n >= 256) {
    const __m512i k256 = all_lanes(by_256);
    __m512i x0 = x;
    __m512i x1 = vector_at(s, 64);
    __m512i x2 = vector_at(s, 128);
    __m512i x3 = vector_at(s, 192);
    for (i = 256; n - i >= 256; i += 256) {
      x0 = fold(x0, k256, vector_at(s, i));
      x1 = fold(x1, k256, vector_at(s, i + 64));
      x2 = fold(x2, k256, vector_at(s, i + 128));
      x3 = fold(x3, k256, vector_at(s, i + 192));
    }
    x = fold(x0, all_lanes(by_192), x3);
    x = fold(x1, all_lanes(by_128), x);
    x = fold(x2, k64, x);
  }
  for (; n - i >= 64; i += 64) {
    x = fold(x, k64, vector_at(s, i));
  }
  const uint32_t head = reduce_vector(x);
  const size_t rest = n - i;
  if (rest == 0) {
    return head;
  }
  // The rest does not wait for the head: it is summed on its own next to it and joined by a shift.
  const uint32_t tail = crc32c_word::update(0, s.from(i), rest);
  return crc32c_word::shift(head, rest) ^ tail;
}

SCUTE_TARGET(SCUTE_CRC_ISA)
uint32_t update(uint32_t reg, const unsigned char* p, size_t n) noexcept {
  if (n < fold_bytes_min) {
    return crc32c_word::update(reg, one_source{p}, n);
  }
  return fold_update(reg, one_source{p}, n);
}

SCUTE_TARGET(SCUTE_CRC_ISA)
uint32_t update_with_tail(uint32_t reg, const unsigned char* p, size_t n,
                          const unsigned char* tail) noexcept {
  reg = n < fold_bytes_min ? crc32c_word::update_short(reg, p, n)
                           : fold_update(reg, one_source{p}, n);
  return crc32c_word::update_tail(reg, tail);
}

SCUTE_TARGET(SCUTE_CRC_ISA)
uint32_t linear_xor(const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  if (n < fold_bytes_min) {
    return crc32c_word::update(0, xor_source{a, b}, n);
  }
  return fold_update(0, xor_source{a, b}, n);
}

SCUTE_TARGET(SCUTE_CRC_ISA)
uint32_t shift(uint32_t reg, uint64_t n) noexcept {
  return crc32c_word::shift(reg, n);
}

}  // namespace

constinit const crc32c_table crc32c_avx512{
    "avx512",   {.sse42 = true, .pclmul = true, .avx2 = true, .avx512 = true, .vpclmul = true},
    update,     update_with_tail,
    linear_xor, shift};

}  // namespace scute::core::codec

#endif
