// SPDX-License-Identifier: BSD-3-Clause
// The GF(2^8) kernels for a register width, instantiated by the AVX2 and AVX-512 variants.
//
// The includer first defines SCUTE_GALOIS_ISA, because a function can only be inlined into a caller
// of the same instruction set and a template does not take that as a parameter; and
// SCUTE_GALOIS_VARIANT, the namespace that keeps the resulting definitions apart.
//
// `V` has: type `lane` (its widest register, described as lane16 is below); type `factor`, what a
// multiplication by one coefficient needs, and static factor_of(c); static times(x, factor) for
// registers of 16 bytes up to its widest; and combine_regs[s], the registers of each sum that a
// block of `s` sums takes.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "codec/galois.hpp"
#include "codec/intrinsics.hpp"
#include "codec/parity_word.hpp"
#include "codec/target.hpp"

namespace scute::codec::SCUTE_GALOIS_VARIANT {

#define SCUTE_GALOIS_INLINE SCUTE_TARGET_INLINE(SCUTE_GALOIS_ISA)

struct lane16 {
  using reg = __m128i;
  SCUTE_GALOIS_INLINE static reg zero() noexcept { return _mm_setzero_si128(); }
  SCUTE_GALOIS_INLINE static reg get(const unsigned char* p) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  SCUTE_GALOIS_INLINE static void put(unsigned char* p, reg v) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
  }
  SCUTE_GALOIS_INLINE static reg add(reg a, reg b) noexcept { return _mm_xor_si128(a, b); }
};

struct lane32 {
  using reg = __m256i;
  SCUTE_GALOIS_INLINE static reg zero() noexcept { return _mm256_setzero_si256(); }
  SCUTE_GALOIS_INLINE static reg get(const unsigned char* p) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  SCUTE_GALOIS_INLINE static void put(unsigned char* p, reg v) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  SCUTE_GALOIS_INLINE static reg add(reg a, reg b) noexcept { return _mm256_xor_si256(a, b); }
};

template <class V>
SCUTE_GALOIS_INLINE std::uint64_t word_times(std::uint64_t x,
                                             const typename V::factor& f) noexcept {
  const __m128i wide = _mm_cvtsi64_si128(static_cast<long long>(x));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(V::times(wide, f)));
}

// ---- one row ------------------------------------------------------------------------------------

// The product of one register or word; added to what is there if `Into`.
template <class V, class Lane, bool Into>
SCUTE_GALOIS_INLINE auto product(const unsigned char* dst, const unsigned char* src,
                                 const typename V::factor& f) noexcept {
  const auto x = V::times(Lane::get(src), f);
  if constexpr (Into) {
    return Lane::add(Lane::get(dst), x);
  } else {
    return x;
  }
}

template <class V, class T, bool Into>
SCUTE_GALOIS_INLINE void word_step(unsigned char* dst, const unsigned char* src,
                                   const typename V::factor& f) noexcept {
  const auto x = static_cast<T>(word_times<V>(load<T>(src), f));
  store(dst, static_cast<T>(Into ? load<T>(dst) ^ x : x));
}

// The last bytes take ever smaller steps, each of which a later update of the same bytes can
// forward from; a masked store would hold it up.
template <class V, bool Into>
SCUTE_GALOIS_INLINE void vector_multiply(unsigned char* dst, const unsigned char* src,
                                         std::uint8_t c, std::size_t n) noexcept {
  using lane = typename V::lane;
  constexpr std::size_t w = sizeof(typename lane::reg);
  const typename V::factor f = V::factor_of(c);
  std::size_t i = 0;
  for (; n - i >= 4 * w; i += 4 * w) {
    const auto x0 = product<V, lane, Into>(dst + i, src + i, f);
    const auto x1 = product<V, lane, Into>(dst + i + w, src + i + w, f);
    const auto x2 = product<V, lane, Into>(dst + i + 2 * w, src + i + 2 * w, f);
    const auto x3 = product<V, lane, Into>(dst + i + 3 * w, src + i + 3 * w, f);
    lane::put(dst + i, x0);
    lane::put(dst + i + w, x1);
    lane::put(dst + i + 2 * w, x2);
    lane::put(dst + i + 3 * w, x3);
  }
  for (; n - i >= w; i += w) {
    lane::put(dst + i, product<V, lane, Into>(dst + i, src + i, f));
  }
  if constexpr (w > 32) {
    if (n - i >= 32) {
      lane32::put(dst + i, product<V, lane32, Into>(dst + i, src + i, f));
      i += 32;
    }
  }
  if (n - i >= 16) {
    lane16::put(dst + i, product<V, lane16, Into>(dst + i, src + i, f));
    i += 16;
  }
  if (n - i >= 8) {
    word_step<V, std::uint64_t, Into>(dst + i, src + i, f);
    i += 8;
  }
  if (((n - i) & 4) != 0) {
    word_step<V, std::uint32_t, Into>(dst + i, src + i, f);
    i += 4;
  }
  if (((n - i) & 2) != 0) {
    word_step<V, std::uint16_t, Into>(dst + i, src + i, f);
    i += 2;
  }
  if (((n - i) & 1) != 0) {
    word_step<V, std::uint8_t, Into>(dst + i, src + i, f);
  }
}

// ---- several rows -------------------------------------------------------------------------------

struct combination {
  void* const* out;
  const void* const* rows;
  const galois::weights* weight;
  std::size_t row_count;

  unsigned char* sum_at(std::size_t s, std::size_t i) const noexcept {
    return static_cast<unsigned char*>(out[s]) + i;
  }
  const unsigned char* row_at(std::size_t r, std::size_t i) const noexcept {
    return static_cast<const unsigned char*>(rows[r]) + i;
  }
};

// Registers are named by constants, or the compiler would keep them in memory.
template <class Lane, std::size_t... K>
struct registers {
  typename Lane::reg at[sizeof...(K)];

  SCUTE_GALOIS_INLINE void clear() noexcept { ((at[K] = Lane::zero()), ...); }
  SCUTE_GALOIS_INLINE void load(const unsigned char* p) noexcept {
    ((at[K] = Lane::get(p + K * sizeof(typename Lane::reg))), ...);
  }
  SCUTE_GALOIS_INLINE void save(unsigned char* p) const noexcept {
    ((Lane::put(p + K * sizeof(typename Lane::reg), at[K])), ...);
  }
  template <class V>
  SCUTE_GALOIS_INLINE void add_product(const registers& x, const typename V::factor& f) noexcept {
    ((at[K] = Lane::add(at[K], V::times(x.at[K], f))), ...);
  }
};

// One block of sums S..., each K... registers long.
template <class V, class Lane, std::size_t... K, std::size_t... S>
SCUTE_GALOIS_INLINE void combine_block(const combination& c, std::size_t i,
                                       std::index_sequence<K...> /*registers*/,
                                       std::index_sequence<S...> /*sums*/) noexcept {
  constexpr std::size_t size = sizeof...(K) * sizeof(typename Lane::reg);
  registers<Lane, K...> sum[sizeof...(S)];
  (sum[S].clear(), ...);
  for (std::size_t r = 0; r < c.row_count; ++r) {
    if constexpr (size % parity_word::line == 0) {
      parity_word::prefetch_row(c.rows, c.row_count, r, i, size);
    }
    registers<Lane, K...> x;
    x.load(c.row_at(r, i));
    (sum[S].template add_product<V>(x, V::factor_of(c.weight[r][S])), ...);
  }
  (sum[S].save(c.sum_at(S, i)), ...);
}

// The last n <= 8 bytes.
template <class V, std::size_t... S>
SCUTE_GALOIS_INLINE void combine_word(const combination& c, std::size_t i, std::size_t n,
                                      std::index_sequence<S...> /*sums*/) noexcept {
  std::uint64_t sum[sizeof...(S)] = {};
  for (std::size_t r = 0; r < c.row_count; ++r) {
    std::uint64_t x = 0;
    std::memcpy(&x, c.row_at(r, i), n);
    ((sum[S] ^= word_times<V>(x, V::factor_of(c.weight[r][S]))), ...);
  }
  (static_cast<void>(std::memcpy(c.sum_at(S, i), &sum[S], n)), ...);
}

template <class V, std::size_t Sums>
SCUTE_GALOIS_INLINE void combine_sums(const combination& c, std::size_t n) noexcept {
  using lane = typename V::lane;
  constexpr std::size_t w = sizeof(typename lane::reg);
  constexpr std::size_t regs = V::combine_regs[Sums];
  constexpr auto sums = std::make_index_sequence<Sums>{};
  constexpr auto one = std::make_index_sequence<1>{};
  std::size_t i = 0;
  for (; n - i >= regs * w; i += regs * w) {
    combine_block<V, lane>(c, i, std::make_index_sequence<regs>{}, sums);
  }
  for (; n - i >= w; i += w) {
    combine_block<V, lane>(c, i, one, sums);
  }
  if constexpr (w > 32) {
    if (n - i >= 32) {
      combine_block<V, lane32>(c, i, one, sums);
      i += 32;
    }
  }
  if (n - i >= 16) {
    combine_block<V, lane16>(c, i, one, sums);
    i += 16;
  }
  if (n - i >= 8) {
    combine_word<V>(c, i, 8, sums);
    i += 8;
  }
  if (n - i != 0) {
    combine_word<V>(c, i, n - i, sums);
  }
}

template <class V>
SCUTE_GALOIS_INLINE void vector_combine(const combination& c, std::size_t sum_count,
                                        std::size_t n) noexcept {
  static_assert(galois::sums_max == 4);
  switch (sum_count) {
    case 1: return combine_sums<V, 1>(c, n);
    case 2: return combine_sums<V, 2>(c, n);
    case 3: return combine_sums<V, 3>(c, n);
    default: return combine_sums<V, 4>(c, n);
  }
}

}  // namespace scute::codec::SCUTE_GALOIS_VARIANT
