// SPDX-License-Identifier: BSD-3-Clause
// The XOR kernels for a register width, instantiated by the SSE2 and AVX2 variants.
//
// The includer first defines SCUTE_PARITY_ISA, because a function can only be inlined into a caller
// of the same instruction set and a template does not take that as a parameter; and
// SCUTE_PARITY_VARIANT, the namespace that keeps the resulting definitions apart.
//
// `V` has: type `reg`, `gather_regs`, and static zero, get, put, add (XOR), any (OR), nonzero.
#pragma once

#include <cstddef>
#include <utility>

#include "codec/parity_word.hpp"
#include "codec/target.hpp"

namespace scute::codec::SCUTE_PARITY_VARIANT {

#define SCUTE_PARITY_INLINE SCUTE_TARGET_INLINE(SCUTE_PARITY_ISA)

template <class V>
SCUTE_PARITY_INLINE void vector_xor2(unsigned char* dst, const unsigned char* a,
                                     const unsigned char* b, std::size_t n) noexcept {
  constexpr std::size_t w = sizeof(typename V::reg);
  std::size_t i = 0;
  for (; n - i >= 4 * w; i += 4 * w) {
    const auto x0 = V::add(V::get(a + i), V::get(b + i));
    const auto x1 = V::add(V::get(a + i + w), V::get(b + i + w));
    const auto x2 = V::add(V::get(a + i + 2 * w), V::get(b + i + 2 * w));
    const auto x3 = V::add(V::get(a + i + 3 * w), V::get(b + i + 3 * w));
    V::put(dst + i, x0);
    V::put(dst + i + w, x1);
    V::put(dst + i + 2 * w, x2);
    V::put(dst + i + 3 * w, x3);
  }
  for (; n - i >= w; i += w) {
    V::put(dst + i, V::add(V::get(a + i), V::get(b + i)));
  }
  parity_word::xor2(dst, a, b, i, n);
}

template <class V>
SCUTE_PARITY_INLINE auto sum3(const unsigned char* a, const unsigned char* b,
                              const unsigned char* c) noexcept {
  return V::add(V::add(V::get(a), V::get(b)), V::get(c));
}

template <class V>
SCUTE_PARITY_INLINE void vector_xor3(unsigned char* dst, const unsigned char* a,
                                     const unsigned char* b, const unsigned char* c,
                                     std::size_t n) noexcept {
  constexpr std::size_t w = sizeof(typename V::reg);
  std::size_t i = 0;
  for (; n - i >= 4 * w; i += 4 * w) {
    const auto x0 = sum3<V>(a + i, b + i, c + i);
    const auto x1 = sum3<V>(a + i + w, b + i + w, c + i + w);
    const auto x2 = sum3<V>(a + i + 2 * w, b + i + 2 * w, c + i + 2 * w);
    const auto x3 = sum3<V>(a + i + 3 * w, b + i + 3 * w, c + i + 3 * w);
    V::put(dst + i, x0);
    V::put(dst + i + w, x1);
    V::put(dst + i + 2 * w, x2);
    V::put(dst + i + 3 * w, x3);
  }
  for (; n - i >= w; i += w) {
    V::put(dst + i, sum3<V>(a + i, b + i, c + i));
  }
  parity_word::xor3(dst, a, b, c, i, n);
}

template <class V>
SCUTE_PARITY_INLINE bool vector_is_zero(const unsigned char* p, std::size_t n) noexcept {
  constexpr std::size_t w = sizeof(typename V::reg);
  std::size_t i = 0;
  for (; n - i >= 4 * w; i += 4 * w) {
    const auto x = V::any(V::any(V::get(p + i), V::get(p + i + w)),
                          V::any(V::get(p + i + 2 * w), V::get(p + i + 3 * w)));
    if (V::nonzero(x)) {
      return false;
    }
  }
  for (; n - i >= w; i += w) {
    if (V::nonzero(V::get(p + i))) {
      return false;
    }
  }
  return parity_word::is_zero(p, i, n);
}

// One block of a gather; its registers are named by constants, or the compiler would keep them in
// memory.
template <class V, std::size_t... K>
SCUTE_PARITY_INLINE void gather_block(unsigned char* dst, const void* const* rows,
                                      std::size_t row_count, std::size_t i,
                                      std::index_sequence<K...> /*registers*/) noexcept {
  constexpr std::size_t w = sizeof(typename V::reg);
  static_assert(w * sizeof...(K) % parity_word::line == 0);
  typename V::reg sum[] = {(static_cast<void>(K), V::zero())...};
  for (std::size_t r = 0; r < row_count; ++r) {
    parity_word::prefetch_row(rows, row_count, r, i, w * sizeof...(K));
    const auto* row = static_cast<const unsigned char*>(rows[r]) + i;
    ((sum[K] = V::add(sum[K], V::get(row + K * w))), ...);
  }
  (V::put(dst + i + K * w, sum[K]), ...);
}

template <class V>
SCUTE_PARITY_INLINE void vector_gather(unsigned char* dst, const void* const* rows,
                                       std::size_t row_count, std::size_t n) noexcept {
  constexpr std::size_t w = sizeof(typename V::reg);
  constexpr std::size_t block = V::gather_regs * w;
  std::size_t i = 0;
  for (; n - i >= block; i += block) {
    gather_block<V>(dst, rows, row_count, i, std::make_index_sequence<V::gather_regs>{});
  }
  for (; n - i >= parity_word::line; i += parity_word::line) {
    gather_block<V>(dst, rows, row_count, i, std::make_index_sequence<parity_word::line / w>{});
  }
  parity_word::gather(dst, rows, row_count, i, n);
}

}  // namespace scute::codec::SCUTE_PARITY_VARIANT
