// SPDX-License-Identifier: BSD-3-Clause
// Rounds to multiples of pages, lines and the like. If the unit is a constant power of two this
// takes one or two instructions.
#pragma once

#include <cstdint>

namespace scute::core {

constexpr uint64_t round_down(uint64_t n, uint64_t unit) noexcept {
  return n / unit * unit;
}
constexpr uint64_t round_up(uint64_t n, uint64_t unit) noexcept {
  return round_down(n + unit - 1, unit);
}

}  // namespace scute::core
