// SPDX-License-Identifier: BSD-3-Clause
// How a cell of a column is computed from the others when some are unknown: which parities are
// used, which rows are left out, and the weight of each sum. Pure numbers, like geometry.hpp.
//
// Sum i is over all data rows except those left out, each times its coefficient in parity[i]
// (codec/parity/reed_solomon.hpp), plus that parity itself if `stored[i]`. The cell is the sum of
// weight[i] times sum i.
#pragma once

#include <cstdint>
#include <span>

#include "codec/parity/reed_solomon.hpp"
#include "core/layout/geometry.hpp"

namespace scute::core::pool {

inline constexpr uint32_t parities_max = codec::reed_solomon::parities_max;

// A set of parities, bit p for parity p.
using parity_set = uint32_t;
constexpr parity_set all_parities(const geometry& g) noexcept {
  return (parity_set{1} << g.parity) - 1;
}

struct recipe {
  uint32_t left_out_count = 0, sum_count = 0;
  uint16_t left_out[parities_max] = {};  // data rows
  uint8_t parity[parities_max] = {};
  bool stored[parities_max] = {};
  uint8_t weight[parities_max] = {};

  bool leaves_out(uint64_t row) const noexcept {
    for (uint32_t i = 0; i < left_out_count; ++i)
      if (left_out[i] == row) return true;
    return false;
  }
};

// The recipe for cell `row`, rows .. rows+parity-1 being the parities, if the data rows `unknown`
// and the parities outside `trusted` must not be looked at. False if that leaves too few parities.
// Async-signal-safe.
bool find_recipe(const geometry& g, uint64_t row, std::span<const uint16_t> unknown,
                 parity_set trusted, recipe& r) noexcept;

// The coefficient of a byte of the data rows in a parity.
inline uint8_t coefficient_of(const geometry& g, uint32_t parity, uint64_t offset) noexcept {
  return parity == 0 ? uint8_t{1}
                     : codec::reed_solomon::coefficient(parity, cell_of(g, offset).row);
}

// Sums over all rows, of all parities.
enum class sums : uint8_t { parities, syndromes };
recipe recipe_of_all(const geometry& g, sums wanted) noexcept;

}  // namespace scute::core::pool
