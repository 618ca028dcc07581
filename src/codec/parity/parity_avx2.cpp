// SPDX-License-Identifier: BSD-3-Clause
// XOR with 256-bit registers.
#include "codec/parity/parity_table.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#define SCUTE_PARITY_ISA "avx2"
#define SCUTE_PARITY_VARIANT avx2_kernels
#include "codec/intrinsics.hpp"
#include "codec/parity/parity_vector.inc"

namespace scute::core::codec {

namespace {

struct avx2 {
  using reg = __m256i;
  static constexpr size_t gather_regs = 12;

  SCUTE_PARITY_INLINE static reg zero() noexcept { return _mm256_setzero_si256(); }
  SCUTE_PARITY_INLINE static reg get(const unsigned char* p) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  SCUTE_PARITY_INLINE static void put(unsigned char* p, reg v) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  SCUTE_PARITY_INLINE static reg add(reg a, reg b) noexcept { return _mm256_xor_si256(a, b); }
  SCUTE_PARITY_INLINE static reg any(reg a, reg b) noexcept { return _mm256_or_si256(a, b); }
  SCUTE_PARITY_INLINE static bool nonzero(reg v) noexcept { return _mm256_testz_si256(v, v) == 0; }
};

#define SCUTE_PARITY_KERNEL SCUTE_TARGET(SCUTE_PARITY_ISA)

SCUTE_PARITY_KERNEL void xor2(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                              size_t n) noexcept {
  avx2_kernels::vector_xor2<avx2>(dst, a, b, n);
}

SCUTE_PARITY_KERNEL void xor3(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                              const unsigned char* c, size_t n) noexcept {
  avx2_kernels::vector_xor3<avx2>(dst, a, b, c, n);
}

SCUTE_PARITY_KERNEL bool is_zero(const unsigned char* p, size_t n) noexcept {
  return avx2_kernels::vector_is_zero<avx2>(p, n);
}

SCUTE_PARITY_KERNEL void gather(unsigned char* dst, const void* const* rows, size_t row_count,
                                size_t n) noexcept {
  avx2_kernels::vector_gather<avx2>(dst, rows, row_count, n);
}

}  // namespace

constinit const parity_table parity_avx2{"avx2", {.sse42 = true, .avx2 = true}, xor2, xor3, is_zero,
                                         gather};

}  // namespace scute::core::codec

#endif
