// SPDX-License-Identifier: BSD-3-Clause
#include "codec/parity/reed_solomon.hpp"

#include <cassert>
#include <cstring>
#include <utility>

#include "codec/parity/parity.hpp"

namespace scute::core::codec::reed_solomon {

namespace {

// k equations in k unknowns: on the left the coefficients, on the right the identity, which turns
// into their inverse.
struct equations {
  size_t k;
  uint8_t left[parities_max][parities_max];
  uint8_t right[parities_max][parities_max];

  void swap(size_t a, size_t b) noexcept {
    for (size_t i = 0; i < k; ++i) {
      std::swap(left[a][i], left[b][i]);
      std::swap(right[a][i], right[b][i]);
    }
  }
  void scale(size_t a, uint8_t by) noexcept {
    galois::multiply(left[a], left[a], by, k);
    galois::multiply(right[a], right[a], by, k);
  }
  void add(size_t to, size_t a, uint8_t by) noexcept {
    galois::multiply_into(left[to], left[a], by, k);
    galois::multiply_into(right[to], right[a], by, k);
  }

  // Gauss-Jordan elimination. False if the equations depend on each other.
  bool invert() noexcept {
    for (size_t column = 0; column < k; ++column) {
      size_t pivot = column;
      while (pivot < k && left[pivot][column] == 0) {
        ++pivot;
      }
      if (pivot == k) {
        return false;
      }
      if (pivot != column) {
        swap(pivot, column);
      }
      scale(column, galois::inverse(left[column][column]));
      for (size_t other = 0; other < k; ++other) {
        if (other != column) {
          add(other, column, left[other][column]);
        }
      }
    }
    return true;
  }
};

}  // namespace

void syndromes(std::span<std::byte* const> out, const void* const* rows,
               const uint16_t* row_numbers, size_t count, size_t n) noexcept {
  assert(out.size() <= parities_max && count <= rows_max);
  if (out.size() == 1) {
    xor_gather(out[0], rows, count, n);
    return;
  }
  galois::weights weight[rows_max];
  for (size_t i = 0; i < count; ++i) {
    assert(row_numbers[i] < rows_max);
    weight[i] = coefficients[row_numbers[i]];
  }
  void* sums[parities_max] = {};
  for (size_t p = 0; p < out.size(); ++p) {
    sums[p] = out[p];
  }
  galois::combine(sums, out.size(), rows, weight, count, n);
}

bool solve(std::span<const uint16_t> lost_rows, std::span<const uint8_t> parities,
           erasure_solution& solution) noexcept {
  const size_t k = lost_rows.size();
  if (k != parities.size() || k > parities_max) {
    return false;
  }
  equations e{k, {}, {}};
  for (size_t j = 0; j < k; ++j) {
    for (size_t i = 0; i < k; ++i) {
      if (parities[j] >= parities_max || lost_rows[i] >= rows_max) {
        return false;
      }
      e.left[j][i] = coefficient(parities[j], lost_rows[i]);
    }
    e.right[j][j] = 1;
  }
  // Two equal rows or parities are two equal lines or columns; nothing else can go wrong.
  if (!e.invert()) {
    return false;
  }
  solution = {};
  solution.k = static_cast<uint8_t>(k);
  std::memcpy(solution.coefficient, e.right, sizeof e.right);
  return true;
}

void decode_rows(const erasure_solution& solution, std::span<const std::byte* const> syndrome,
                 std::span<std::byte* const> lost, size_t n) noexcept {
  const size_t k = solution.k;
  assert(k <= parities_max && syndrome.size() == k && lost.size() == k);
  if (k == 1) {
    galois::multiply(lost[0], syndrome[0], solution.coefficient[0][0], n);
    return;
  }
  galois::weights weight[parities_max] = {};
  const void* rows[parities_max] = {};
  void* sums[parities_max] = {};
  for (size_t i = 0; i < k; ++i) {
    rows[i] = syndrome[i];
    sums[i] = lost[i];
    for (size_t j = 0; j < k; ++j) {
      weight[j][i] = solution.coefficient[i][j];
    }
  }
  galois::combine(sums, k, rows, weight, k, n);
}

}  // namespace scute::core::codec::reed_solomon
