// SPDX-License-Identifier: BSD-3-Clause
// Products in GF(2^8) by looking up half-bytes with PSHUFB, 32 at once (Plank, Greenan and Miller,
// "Screaming Fast Galois Field Arithmetic Using Intel SIMD Instructions", FAST 2013).
#include "codec/parity/galois_table.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#define SCUTE_GALOIS_ISA "avx2"
#define SCUTE_GALOIS_VARIANT galois_avx2_kernels
#include "codec/parity/galois_vector.inc"

namespace scute::core::codec {

namespace {

using namespace SCUTE_GALOIS_VARIANT;

struct alignas(32) nibble_products {
  uint8_t low[16];   // c * v
  uint8_t high[16];  // c * (v << 4)
};

constexpr auto products = [] {
  std::array<nibble_products, 256> t{};
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned v = 0; v < 16; ++v) {
      const auto element = static_cast<uint8_t>(c);
      t[c].low[v] = galois::multiply(element, static_cast<uint8_t>(v));
      t[c].high[v] = galois::multiply(element, static_cast<uint8_t>(v << 4));
    }
  }
  return t;
}();

struct avx2 {
  using lane = lane32;
  struct factor {
    __m256i low;
    __m256i high;
  };
  static constexpr size_t combine_regs[] = {0, 4, 4, 2, 2};

  SCUTE_GALOIS_INLINE static __m256i twice(const uint8_t* p) noexcept {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
  }
  SCUTE_GALOIS_INLINE static factor factor_of(uint8_t c) noexcept {
    return {twice(products[c].low), twice(products[c].high)};
  }
  SCUTE_GALOIS_INLINE static __m256i times(__m256i x, const factor& f) noexcept {
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    const __m256i low = _mm256_and_si256(x, nibble);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble);
    return _mm256_xor_si256(_mm256_shuffle_epi8(f.low, low), _mm256_shuffle_epi8(f.high, high));
  }
  SCUTE_GALOIS_INLINE static __m128i times(__m128i x, const factor& f) noexcept {
    const __m128i nibble = _mm_set1_epi8(0x0F);
    const __m128i low = _mm_and_si128(x, nibble);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(x, 4), nibble);
    return _mm_xor_si128(_mm_shuffle_epi8(_mm256_castsi256_si128(f.low), low),
                         _mm_shuffle_epi8(_mm256_castsi256_si128(f.high), high));
  }
};

#define SCUTE_GALOIS_KERNEL SCUTE_TARGET(SCUTE_GALOIS_ISA)

SCUTE_GALOIS_KERNEL void multiply(unsigned char* dst, const unsigned char* src, uint8_t c,
                                  size_t n) noexcept {
  vector_multiply<avx2, false>(dst, src, c, n);
}

SCUTE_GALOIS_KERNEL void multiply_into(unsigned char* dst, const unsigned char* src, uint8_t c,
                                       size_t n) noexcept {
  vector_multiply<avx2, true>(dst, src, c, n);
}

SCUTE_GALOIS_KERNEL void combine(void* const* out, size_t sum_count, const void* const* rows,
                                 const galois::weights* weight, size_t row_count,
                                 size_t n) noexcept {
  vector_combine<avx2>({out, rows, weight, row_count}, sum_count, n);
}

}  // namespace

constinit const galois_table galois_avx2{
    "avx2", {.sse42 = true, .avx2 = true}, multiply, multiply_into, combine};

}  // namespace scute::core::codec

#endif
