// SPDX-License-Identifier: BSD-3-Clause
// Random numbers of inputs, populations and requests: SplitMix64 (Steele, Lea, Flood; OOPSLA 2014).
// A seed gives the same numbers on every machine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/maps/key_hash.hpp"

namespace scute::workloads {

class dice {
 public:
  explicit dice(uint64_t seed) : state_(key_hash(seed)) {}

  uint64_t next() noexcept { return key_hash(state_ += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t n) noexcept { return next() % n; }
  // Uniform in [low, high].
  uint64_t between(uint64_t low, uint64_t high) noexcept { return low + below(high - low + 1); }
  bool percent(uint64_t p) noexcept { return below(100) < p; }
  // Uniform in [0, 1).
  double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // The standard normal distribution, by the sum of twelve: its ends are cut off at 6.
  double normal() noexcept {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += fraction();
    return sum;
  }
  template <class T>
  void shuffle(std::vector<T>& v) noexcept {
    for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace scute::workloads
