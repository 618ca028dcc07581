// SPDX-License-Identifier: BSD-3-Clause
// XOR with 512-bit registers.
//
// Masked loads take the last bytes where the result is not stored, or stored once: they do not
// touch, and cannot fault on, the bytes that are masked out. The kernels that update parity in
// place finish with narrower registers instead, because a masked store cannot forward to the load
// of the next update.
#include <utility>

#include "codec/parity/parity_table.hpp"
#include "codec/parity/parity_word.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#include "codec/intrinsics.hpp"

namespace scute::core::codec {

namespace {

#define SCUTE_PARITY_ISA "avx512f,avx512bw,avx512vl,avx512dq"
#define SCUTE_PARITY_INLINE SCUTE_TARGET_INLINE(SCUTE_PARITY_ISA)
#define SCUTE_PARITY_KERNEL SCUTE_TARGET(SCUTE_PARITY_ISA)

constexpr size_t width = 64;

SCUTE_PARITY_INLINE __m512i get(const unsigned char* p) noexcept {
  return _mm512_loadu_si512(p);
}
SCUTE_PARITY_INLINE __m512i get(const unsigned char* p, __mmask64 m) noexcept {
  return _mm512_maskz_loadu_epi8(m, p);
}
SCUTE_PARITY_INLINE __m512i add(__m512i a, __m512i b) noexcept {
  return _mm512_xor_si512(a, b);
}
SCUTE_PARITY_INLINE __m512i add(__m512i a, __m512i b, __m512i c) noexcept {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
SCUTE_PARITY_INLINE bool nonzero(__m512i v) noexcept {
  return _mm512_test_epi64_mask(v, v) != 0;
}

SCUTE_PARITY_INLINE __m256i get32(const unsigned char* p) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
SCUTE_PARITY_INLINE void put32(unsigned char* p, __m256i v) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

// n < 64
SCUTE_PARITY_INLINE __mmask64 first(size_t n) noexcept {
  return (__mmask64{1} << n) - 1;
}

SCUTE_PARITY_KERNEL void xor2(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                              size_t n) noexcept {
  size_t i = 0;
  for (; n - i >= 4 * width; i += 4 * width) {
    const __m512i x0 = add(get(a + i), get(b + i));
    const __m512i x1 = add(get(a + i + 64), get(b + i + 64));
    const __m512i x2 = add(get(a + i + 128), get(b + i + 128));
    const __m512i x3 = add(get(a + i + 192), get(b + i + 192));
    _mm512_storeu_si512(dst + i, x0);
    _mm512_storeu_si512(dst + i + 64, x1);
    _mm512_storeu_si512(dst + i + 128, x2);
    _mm512_storeu_si512(dst + i + 192, x3);
  }
  for (; n - i >= width; i += width) {
    _mm512_storeu_si512(dst + i, add(get(a + i), get(b + i)));
  }
  if (n - i >= 32) {
    put32(dst + i, _mm256_xor_si256(get32(a + i), get32(b + i)));
    i += 32;
  }
  parity_word::xor2(dst, a, b, i, n);
}

SCUTE_PARITY_KERNEL void xor3(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                              const unsigned char* c, size_t n) noexcept {
  size_t i = 0;
  for (; n - i >= 2 * width; i += 2 * width) {
    const __m512i x0 = add(get(a + i), get(b + i), get(c + i));
    const __m512i x1 = add(get(a + i + 64), get(b + i + 64), get(c + i + 64));
    _mm512_storeu_si512(dst + i, x0);
    _mm512_storeu_si512(dst + i + 64, x1);
  }
  for (; n - i >= width; i += width) {
    _mm512_storeu_si512(dst + i, add(get(a + i), get(b + i), get(c + i)));
  }
  if (n - i >= 32) {
    const __m256i x = _mm256_xor_si256(get32(a + i), get32(b + i));
    put32(dst + i, _mm256_xor_si256(x, get32(c + i)));
    i += 32;
  }
  parity_word::xor3(dst, a, b, c, i, n);
}

SCUTE_PARITY_KERNEL bool is_zero(const unsigned char* p, size_t n) noexcept {
  size_t i = 0;
  for (; n - i >= 4 * width; i += 4 * width) {
    const __m512i x = _mm512_or_si512(get(p + i), get(p + i + 64));
    const __m512i y = _mm512_or_si512(get(p + i + 128), get(p + i + 192));
    if (nonzero(_mm512_or_si512(x, y))) {
      return false;
    }
  }
  for (; n - i >= width; i += width) {
    if (nonzero(get(p + i))) {
      return false;
    }
  }
  return i == n || !nonzero(get(p + i, first(n - i)));
}

// One block of a gather; its registers are named by constants, or the compiler would keep them in
// memory.
template <size_t... K>
SCUTE_PARITY_INLINE void gather_block(unsigned char* dst, const void* const* rows, size_t row_count,
                                      size_t i, std::index_sequence<K...> /*registers*/) noexcept {
  __m512i sum[] = {(static_cast<void>(K), _mm512_setzero_si512())...};
  for (size_t r = 0; r < row_count; ++r) {
    parity_word::prefetch_row(rows, row_count, r, i, width * sizeof...(K));
    const auto* row = static_cast<const unsigned char*>(rows[r]) + i;
    ((sum[K] = add(sum[K], get(row + K * width))), ...);
  }
  (_mm512_storeu_si512(dst + i + K * width, sum[K]), ...);
}

SCUTE_PARITY_KERNEL void gather(unsigned char* dst, const void* const* rows, size_t row_count,
                                size_t n) noexcept {
  size_t i = 0;
  for (; n - i >= 16 * width; i += 16 * width) {
    gather_block(dst, rows, row_count, i, std::make_index_sequence<16>{});
  }
  for (; n - i >= 4 * width; i += 4 * width) {
    gather_block(dst, rows, row_count, i, std::make_index_sequence<4>{});
  }
  for (; i < n; i += width) {
    const __mmask64 m = n - i >= width ? ~__mmask64{0} : first(n - i);
    __m512i sum = _mm512_setzero_si512();
    for (size_t r = 0; r < row_count; ++r) {
      sum = add(sum, get(static_cast<const unsigned char*>(rows[r]) + i, m));
    }
    _mm512_mask_storeu_epi8(dst + i, m, sum);
  }
}

}  // namespace

constinit const parity_table parity_avx512{
    "avx512", {.sse42 = true, .avx2 = true, .avx512 = true}, xor2, xor3, is_zero, gather};

}  // namespace scute::core::codec

#endif
