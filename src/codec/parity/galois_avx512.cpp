// SPDX-License-Identifier: BSD-3-Clause
// Products in GF(2^8) with the bit matrices of GFNI, 64 bytes at once.
//
// GF2P8MULB multiplies modulo the polynomial of AES and is of no use here. GF2P8AFFINEQB multiplies
// a bit matrix with each byte, and multiplying by a constant is such a matrix: its column k is the
// constant times x^k.
#include "codec/parity/galois_table.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#define SCUTE_GALOIS_ISA "gfni,avx512f,avx512bw,avx512vl,avx512dq"
#define SCUTE_GALOIS_VARIANT galois_avx512_kernels
#include "codec/parity/galois_vector.inc"

namespace scute::core::codec {

namespace {

using namespace SCUTE_GALOIS_VARIANT;

// The instruction takes the row of result bit i from byte 7 - i of the matrix.
constexpr auto matrices = [] {
  std::array<uint64_t, 256> t{};
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned k = 0; k < 8; ++k) {
      const uint64_t column =
          galois::multiply(static_cast<uint8_t>(c), static_cast<uint8_t>(1U << k));
      for (unsigned i = 0; i < 8; ++i) {
        t[c] |= (column >> i & 1) << (8 * (7 - i) + k);
      }
    }
  }
  return t;
}();

static_assert(matrices[1] == 0x0102040810204080);

struct lane64 {
  using reg = __m512i;
  SCUTE_GALOIS_INLINE static reg zero() noexcept { return _mm512_setzero_si512(); }
  SCUTE_GALOIS_INLINE static reg get(const unsigned char* p) noexcept {
    return _mm512_loadu_si512(p);
  }
  SCUTE_GALOIS_INLINE static void put(unsigned char* p, reg v) noexcept {
    _mm512_storeu_si512(p, v);
  }
  SCUTE_GALOIS_INLINE static reg add(reg a, reg b) noexcept { return _mm512_xor_si512(a, b); }
};

struct gfni {
  using lane = lane64;
  using factor = __m512i;
  // Memory is faster the more of a row is read at once: as many as there are registers for.
  static constexpr size_t combine_regs[] = {0, 16, 12, 8, 6};

  SCUTE_GALOIS_INLINE static factor factor_of(uint8_t c) noexcept {
    return _mm512_set1_epi64(static_cast<long long>(matrices[c]));
  }
  SCUTE_GALOIS_INLINE static __m512i times(__m512i x, const factor& f) noexcept {
    return _mm512_gf2p8affine_epi64_epi8(x, f, 0);
  }
  SCUTE_GALOIS_INLINE static __m256i times(__m256i x, const factor& f) noexcept {
    return _mm256_gf2p8affine_epi64_epi8(x, _mm512_castsi512_si256(f), 0);
  }
  SCUTE_GALOIS_INLINE static __m128i times(__m128i x, const factor& f) noexcept {
    return _mm_gf2p8affine_epi64_epi8(x, _mm512_castsi512_si128(f), 0);
  }
};

#define SCUTE_GALOIS_KERNEL SCUTE_TARGET(SCUTE_GALOIS_ISA)

SCUTE_GALOIS_KERNEL void multiply(unsigned char* dst, const unsigned char* src, uint8_t c,
                                  size_t n) noexcept {
  vector_multiply<gfni, false>(dst, src, c, n);
}

SCUTE_GALOIS_KERNEL void multiply_into(unsigned char* dst, const unsigned char* src, uint8_t c,
                                       size_t n) noexcept {
  vector_multiply<gfni, true>(dst, src, c, n);
}

SCUTE_GALOIS_KERNEL void combine(void* const* out, size_t sum_count, const void* const* rows,
                                 const galois::weights* weight, size_t row_count,
                                 size_t n) noexcept {
  vector_combine<gfni>({out, rows, weight, row_count}, sum_count, n);
}

}  // namespace

constinit const galois_table galois_avx512{
    "avx512_gfni",
    {.sse42 = true, .avx2 = true, .avx512 = true, .gfni = true},
    multiply,
    multiply_into,
    combine};

}  // namespace scute::core::codec

#endif
