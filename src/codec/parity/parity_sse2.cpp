// SPDX-License-Identifier: BSD-3-Clause
// XOR with 128-bit registers, which every x86-64 CPU has.
#include "codec/parity/parity_table.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#define SCUTE_PARITY_ISA "sse2"
#define SCUTE_PARITY_VARIANT sse2_kernels
#include "codec/intrinsics.hpp"
#include "codec/parity/parity_vector.inc"

namespace scute::core::codec {

namespace {

struct sse2 {
  using reg = __m128i;
  static constexpr size_t gather_regs = 12;

  SCUTE_PARITY_INLINE static reg zero() noexcept { return _mm_setzero_si128(); }
  SCUTE_PARITY_INLINE static reg get(const unsigned char* p) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  SCUTE_PARITY_INLINE static void put(unsigned char* p, reg v) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
  }
  SCUTE_PARITY_INLINE static reg add(reg a, reg b) noexcept { return _mm_xor_si128(a, b); }
  SCUTE_PARITY_INLINE static reg any(reg a, reg b) noexcept { return _mm_or_si128(a, b); }
  SCUTE_PARITY_INLINE static bool nonzero(reg v) noexcept {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())) != 0xFFFF;
  }
};

void xor2(unsigned char* dst, const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  sse2_kernels::vector_xor2<sse2>(dst, a, b, n);
}

void xor3(unsigned char* dst, const unsigned char* a, const unsigned char* b,
          const unsigned char* c, size_t n) noexcept {
  sse2_kernels::vector_xor3<sse2>(dst, a, b, c, n);
}

bool is_zero(const unsigned char* p, size_t n) noexcept {
  return sse2_kernels::vector_is_zero<sse2>(p, n);
}

void gather(unsigned char* dst, const void* const* rows, size_t row_count, size_t n) noexcept {
  sse2_kernels::vector_gather<sse2>(dst, rows, row_count, n);
}

}  // namespace

// Needs SSE4.2 although it does not use it: SCUTE_CPU=portable must reach the portable kernels.
constinit const parity_table parity_sse2{"sse2", {.sse42 = true}, xor2, xor3, is_zero, gather};

}  // namespace scute::core::codec

#endif
