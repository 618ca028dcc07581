// SPDX-License-Identifier: BSD-3-Clause
// The field GF(2^8): single elements, and byte ranges as vectors of elements.
//
// An element is a polynomial over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11D), bit i the
// coefficient of x^i. Addition is XOR (parity.hpp).
//
// The functions on ranges take any alignment and any length (0 included), read and write exactly
// the bytes given, and may be called from any thread and in a signal handler: they allocate nothing
// and never wait. Ranges must not overlap partly; a destination may be exactly one of the sources
// where stated. None is atomic: ranges that other threads change need the caller's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace scute::core::codec::galois {

inline constexpr unsigned polynomial = 0x11D;
inline constexpr unsigned order = 255;  // of x, which generates all elements but zero

struct logarithms {
  std::array<uint8_t, 256> of;           // of[x^i] = i; of[0] means nothing
  std::array<uint8_t, 2 * order> power;  // power[i] = x^i: a sum of two needs no modulo
};

inline constexpr logarithms logs = [] {
  logarithms l{};
  unsigned element = 1;
  for (unsigned i = 0; i < order; ++i) {
    l.power[i] = l.power[i + order] = static_cast<uint8_t>(element);
    l.of[element] = static_cast<uint8_t>(i);
    element = element << 1 ^ (element >= 128 ? polynomial : 0);
  }
  return l;
}();

// a * b.
[[nodiscard]] constexpr uint8_t multiply(uint8_t a, uint8_t b) noexcept {
  return a == 0 || b == 0 ? uint8_t{0} : logs.power[logs.of[a] + size_t{logs.of[b]}];
}

// The element whose product with `a` is 1. Zero has none; 0 is returned for it.
[[nodiscard]] constexpr uint8_t inverse(uint8_t a) noexcept {
  return a == 0 ? uint8_t{0} : logs.power[order - logs.of[a]];
}

// dst = coefficient * src. dst may be src. Coefficients 0 and 1 are memset and memcpy.
void multiply(void* dst, const void* src, uint8_t coefficient, size_t n) noexcept;

// dst ^= coefficient * src. dst may be src. Coefficient 0 does nothing, 1 is xor_into.
void multiply_into(void* dst, const void* src, uint8_t coefficient, size_t n) noexcept;

// How many sums `combine` makes in one pass over the rows.
inline constexpr size_t sums_max = 4;

// The coefficient of one row in each of the sums.
using weights = std::array<uint8_t, sums_max>;

// out[s] = sum over r of weight[r][s] * rows[r], for the `sum_count` <= sums_max ranges out[s] and
// the `row_count` ranges rows[r], `n` bytes each; zeros if row_count is 0. An out[s] may be exactly
// one of the rows: every byte of all rows is read before that byte of any sum is written. The sums
// must differ from each other. Weights of other sums are not read.
//
// Made, like xor_gather, for rows that are far apart and not in the cache: each row is read once, a
// few cache lines at a time and prefetched ahead, and each sum is written once.
void combine(void* const* out, size_t sum_count, const void* const* rows, const weights* weight,
             size_t row_count, size_t n) noexcept;

}  // namespace scute::core::codec::galois
