// SPDX-License-Identifier: BSD-3-Clause
// Reed-Solomon parities: up to four parity rows over up to 251 data rows, of which as many rows may
// be lost, data or parity, as there are parities.
//
// Parity p of a column is the sum over its rows of coefficient(p, row) * row, in GF(2^8)
// (galois.hpp). A coefficient depends on nothing else: the parities of a pool with two of them are
// the first two of a pool with four; a row of zeros counts nothing and may be left out; a change of
// one row changes parity p by coefficient(p, row) times the difference. Parity 0 is the plain XOR.
//
// No function allocates or waits: all may be called from any thread and in a signal handler. None
// is atomic: ranges that other threads change need the caller's lock. The tables that the bulk work
// needs are constants of the program; an optimized build takes less than 4 KiB of stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/parity/galois.hpp"

namespace scute::core::codec::reed_solomon {

inline constexpr size_t parities_max = 4;
inline constexpr size_t rows_max = 251;

// A Cauchy matrix 1 / (p + y) for parities p and rows y = row + 4, its columns multiplied by y. The
// elements 0..254 are all different, so every square part of a Cauchy matrix is invertible, and
// multiplying a column by something other than zero leaves that as it is. Parity 0 becomes y / y.
inline constexpr auto coefficients = [] {
  static_assert(parities_max == galois::sums_max && rows_max + parities_max == galois::order);
  std::array<galois::weights, rows_max> c{};
  for (size_t row = 0; row < rows_max; ++row) {
    const auto y = static_cast<uint8_t>(row + parities_max);
    for (size_t p = 0; p < parities_max; ++p) {
      c[row][p] = galois::multiply(y, galois::inverse(static_cast<uint8_t>(p ^ y)));
    }
  }
  return c;
}();

// The coefficient of `row` < rows_max in `parity` < parities_max; never 0, and 1 for parity 0.
[[nodiscard]] constexpr uint8_t coefficient(size_t parity, size_t row) noexcept {
  return coefficients[row][parity];
}

// out[p] = sum over i of coefficient(p, row_numbers[i]) * rows[i], for the `count` <= rows_max
// ranges rows[i] of `n` bytes each and the first out.size() <= parities_max parities; zeros if
// `count` is 0. The row numbers are each < rows_max, in any order, none twice. An out[p] may be
// exactly one of the rows, but no two of them are the same.
// Of all rows this makes the parities. Of the rows that survive it makes what decode_rows() needs,
// once the parities themselves are added (xor_into).
void syndromes(std::span<std::byte* const> out, const void* const* rows,
               const uint16_t* row_numbers, size_t count, size_t n) noexcept;

// How `k` lost rows are made of `k` syndromes: lost row i is the sum over j < k of
// coefficient[i][j] * S_j. The other coefficients are 0.
struct erasure_solution {
  uint8_t k = 0;
  uint8_t coefficient[parities_max][parities_max] = {};
};

// Finds how the data rows `lost_rows` are computed with the parities `parities`, as many as there
// are rows: S_j is parity parities[j] plus the surviving rows' contribution to it (syndromes). Any
// trusted parities will do, in any order; lost parities are recomputed afterwards, with syndromes
// of all rows. Returns false, with `solution` left alone, if the two are not equally many, are more
// than parities_max, name something twice, or name something that does not exist. No lost rows also
// have a solution.
[[nodiscard]] bool solve(std::span<const uint16_t> lost_rows, std::span<const uint8_t> parities,
                         erasure_solution& solution) noexcept;

// Computes the lost rows, `n` bytes each, from the syndromes; both spans have solution.k ranges. A
// lost[i] may be exactly one of the syndromes, but no two of them are the same.
void decode_rows(const erasure_solution& solution, std::span<const std::byte* const> syndrome,
                 std::span<std::byte* const> lost, size_t n) noexcept;

}  // namespace scute::core::codec::reed_solomon
