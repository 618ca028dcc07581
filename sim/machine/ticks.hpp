// SPDX-License-Identifier: BSD-3-Clause
// Time in the simulator: whole ticks, of which a nanosecond has 1024, so that runs repeat exactly.
#pragma once

#include <cmath>
#include <cstdint>

namespace scute::sim {

using ticks = uint64_t;

inline constexpr double ticks_per_ns = 1024;

inline ticks from_ns(double ns) noexcept {
  return static_cast<ticks>(std::llround(ns * ticks_per_ns));
}
constexpr double to_ns(ticks t) noexcept {
  return static_cast<double>(t) / ticks_per_ns;
}

// The last of several times; std::max with a list is a loop to the compiler.
constexpr ticks latest(ticks a, ticks b) noexcept {
  return a > b ? a : b;
}
template <class... Others>
constexpr ticks latest(ticks a, ticks b, Others... others) noexcept {
  return latest(latest(a, b), others...);
}

// Addresses are those of the program; lines and pages are their numbers.
inline constexpr unsigned line_bytes = 64, page_bytes = 4096,
                          lines_of_page = page_bytes / line_bytes;
constexpr uint64_t line_of(uint64_t address) noexcept {
  return address / line_bytes;
}
constexpr uint64_t page_of_line(uint64_t line) noexcept {
  return line / lines_of_page;
}

}  // namespace scute::sim
