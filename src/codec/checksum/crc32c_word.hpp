// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C with the CRC32 instruction, shared by the x86 variants.
//
// The instruction takes three cycles but one can start each cycle, so three streams run side by
// side and are joined with carry-less multiplies. A join folds into the last word of the third
// stream: the instruction reduces that word and the products together.
//
// `Source` yields the bytes: one message, or the XOR of two.
#pragma once

#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#include <array>

#include "codec/bytes.hpp"
#include "codec/checksum/crc32c_math.hpp"
#include "codec/intrinsics.hpp"

#define SCUTE_CRC_WORD SCUTE_TARGET_INLINE("sse4.2,pclmul")

namespace scute::core::codec::crc32c_word {

// Reducing a 64-bit product with the CRC32 instruction multiplies by x^32, reflection by x; so a
// factor x^e is stored as x^(e - 33).
inline constexpr int product_bias = 33;

inline constexpr crc32c_math::shift_table byte_powers = crc32c_math::make_shift_table(product_bias);

inline constexpr size_t stream_words_max = 64;

// word_powers[w] appends w zero words; two streams' worth is the most that a join needs.
inline constexpr auto word_powers = [] {
  std::array<uint32_t, 2 * stream_words_max + 1> t{};
  for (size_t w = 0; w < t.size(); ++w) {
    t[w] = crc32c_math::power_of_x(64 * static_cast<int64_t>(w) - product_bias);
  }
  return t;
}();

struct one_source {
  const unsigned char* p;
  template <class T>
  T at(size_t i) const noexcept {
    return load<T>(p + i);
  }
  one_source from(size_t i) const noexcept { return {p + i}; }
};

struct xor_source {
  const unsigned char* a;
  const unsigned char* b;
  template <class T>
  T at(size_t i) const noexcept {
    return static_cast<T>(load<T>(a + i) ^ load<T>(b + i));
  }
  xor_source from(size_t i) const noexcept { return {a + i, b + i}; }
};

SCUTE_CRC_WORD uint32_t reduce(uint64_t product) noexcept {
  return static_cast<uint32_t>(_mm_crc32_u64(0, product));
}

SCUTE_CRC_WORD uint64_t product(uint64_t a, uint32_t b) noexcept {
  const __m128i x = _mm_cvtsi64_si128(static_cast<long long>(a));
  const __m128i y = _mm_cvtsi32_si128(static_cast<int>(b));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_clmulepi64_si128(x, y, 0)));
}

SCUTE_CRC_WORD uint32_t shift(uint32_t reg, uint64_t n) noexcept {
  n = crc32c_math::reduce_count(n);
  constexpr auto bits = crc32c_math::digit_bits;
  constexpr auto base = crc32c_math::digit_count;
  // Factors are joined with each other first: `n` is known long before `reg`, which is usually
  // still being computed, so only the last multiply is waited for. Zero digits are not skipped, a
  // mispredicted branch would cost more than the multiply.
  uint32_t factor = reduce(product(byte_powers[0][n % base], byte_powers[1][(n >> bits) % base]));
  n >>= 2 * bits;
  for (size_t digit = 2; n != 0; ++digit, n >>= bits) {
    factor = reduce(product(factor, byte_powers[digit][n % base]));
  }
  return reduce(product(reg, factor));
}

// Three streams of `words` words each, 1 <= words <= stream_words_max.
template <class Source>
SCUTE_CRC_WORD uint64_t three_streams(uint64_t reg, Source s, size_t words) noexcept {
  const size_t stride = 8 * words;
  uint64_t c0 = reg;
  uint64_t c1 = 0;
  uint64_t c2 = 0;
  size_t i = 0;
  for (; i + 8 < stride; i += 8) {
    c0 = _mm_crc32_u64(c0, s.template at<uint64_t>(i));
    c1 = _mm_crc32_u64(c1, s.template at<uint64_t>(i + stride));
    c2 = _mm_crc32_u64(c2, s.template at<uint64_t>(i + 2 * stride));
  }
  c0 = _mm_crc32_u64(c0, s.template at<uint64_t>(i));
  c1 = _mm_crc32_u64(c1, s.template at<uint64_t>(i + stride));
  const uint64_t join = product(c0, word_powers[2 * words]) ^ product(c1, word_powers[words]);
  return _mm_crc32_u64(c2, s.template at<uint64_t>(i + 2 * stride) ^ join);
}

// Below this many bytes one stream finishes before three could be joined.
inline constexpr size_t streams_bytes_min = 144;

template <class Source>
SCUTE_CRC_WORD uint32_t update(uint32_t start, Source s, size_t n) noexcept {
  uint64_t reg = start;
  while (n >= streams_bytes_min) {
    const size_t words = n / 24 < stream_words_max ? n / 24 : stream_words_max;
    reg = three_streams(reg, s, words);
    s = s.from(24 * words);
    n -= 24 * words;
  }
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    reg = _mm_crc32_u64(reg, s.template at<uint64_t>(i));
  }
  auto r = static_cast<uint32_t>(reg);
  if ((n & 4) != 0) {
    r = _mm_crc32_u32(r, s.template at<uint32_t>(i));
    i += 4;
  }
  if ((n & 2) != 0) {
    r = _mm_crc32_u16(r, s.template at<uint16_t>(i));
    i += 2;
  }
  if ((n & 1) != 0) {
    r = _mm_crc32_u8(r, s.template at<uint8_t>(i));
  }
  return r;
}

// One stream, with few instructions around its words.
SCUTE_CRC_WORD uint32_t update_short(uint32_t start, const unsigned char* p, size_t n) noexcept {
  uint64_t reg = start;
  for (; n >= 32; p += 32, n -= 32) {
    reg = _mm_crc32_u64(reg, load<uint64_t>(p));
    reg = _mm_crc32_u64(reg, load<uint64_t>(p + 8));
    reg = _mm_crc32_u64(reg, load<uint64_t>(p + 16));
    reg = _mm_crc32_u64(reg, load<uint64_t>(p + 24));
  }
  if (n == 0) return static_cast<uint32_t>(reg);
  if (n >= 16) {
    reg = _mm_crc32_u64(reg, load<uint64_t>(p));
    reg = _mm_crc32_u64(reg, load<uint64_t>(p + 8));
    p += 16;
    n -= 16;
  }
  if (n >= 8) {
    reg = _mm_crc32_u64(reg, load<uint64_t>(p));
    p += 8;
  }
  auto r = static_cast<uint32_t>(reg);
  if ((n & 4) != 0) {
    r = _mm_crc32_u32(r, load<uint32_t>(p));
    p += 4;
  }
  if ((n & 2) != 0) {
    r = _mm_crc32_u16(r, load<uint16_t>(p));
    p += 2;
  }
  if ((n & 1) != 0) r = _mm_crc32_u8(r, load<uint8_t>(p));
  return r;
}

// 28 bytes.
SCUTE_CRC_WORD uint32_t update_tail(uint32_t start, const unsigned char* p) noexcept {
  uint64_t reg = _mm_crc32_u32(start, load<uint32_t>(p));
  reg = _mm_crc32_u64(reg, load<uint64_t>(p + 4));
  reg = _mm_crc32_u64(reg, load<uint64_t>(p + 12));
  return static_cast<uint32_t>(_mm_crc32_u64(reg, load<uint64_t>(p + 20)));
}

}  // namespace scute::core::codec::crc32c_word

#endif
