// SPDX-License-Identifier: BSD-3-Clause
// dice.hpp: numbers and bytes that follow from a seed and nothing else.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace scute_campaign {

// The finaliser of SplitMix64.
constexpr uint64_t mix(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
constexpr uint64_t mix(uint64_t a, uint64_t b) noexcept {
  return mix(a ^ mix(b));
}

class dice {
 public:
  explicit dice(uint64_t seed) noexcept : state_(mix(seed)) {}

  uint64_t word() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t n) noexcept { return word() % n; }
  bool one_in(uint64_t n) noexcept { return below(n) == 0; }
  // In (0, 1].
  double unit() noexcept { return static_cast<double>((word() >> 11) + 1) * 0x1p-53; }
  // From low to high, each order of magnitude as likely as any other.
  uint64_t size(uint64_t low, uint64_t high) noexcept {
    const double at = std::pow(static_cast<double>(high) / static_cast<double>(low), unit());
    return static_cast<uint64_t>(static_cast<double>(low) * at);
  }

 private:
  uint64_t state_;
};

// The bytes that belong to a key.
inline void fill(std::byte* to, uint64_t key, uint64_t n) noexcept {
  for (uint64_t at = 0; at < n; at += 8) {
    const uint64_t word = mix(key, at);
    std::memcpy(to + at, &word, n - at < 8 ? n - at : 8);
  }
}

}  // namespace scute_campaign
