// SPDX-License-Identifier: BSD-3-Clause
// dice.hpp: numbers and bytes that follow from a seed and
// nothing else, so that the process that writes and the one that verifies agree on them without a
// word.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace scute_tools {

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
  // From low to high, each order of magnitude as likely as any other: short ones are frequent.
  double skewed(double low, double high) noexcept { return low * std::pow(high / low, unit()); }
  uint64_t size(uint64_t low, uint64_t high) noexcept {
    const double x = skewed(static_cast<double>(low), static_cast<double>(high) + 1);
    return std::clamp(static_cast<uint64_t>(x), low, high);
  }

 private:
  uint64_t state_;
};

// A size of chunks for a pool of that size: 16 KiB to 256 KiB, such that it has 64 of them. With
// small chunks most objects are spans, with large ones they are slots.
inline uint32_t drawn_chunk_size(uint64_t seed, uint64_t pool_size) noexcept {
  constexpr uint64_t least = 16 << 10, most = 256 << 10;
  unsigned kinds = 1;
  while (least << kinds <= std::min(most, pool_size / 64)) ++kinds;
  return static_cast<uint32_t>(least << dice(mix(seed, pool_size)).below(kinds));
}

// Bytes [offset, offset + n) of the endless text with that key.
inline void fill(void* to, uint64_t key, uint64_t offset, uint64_t n) noexcept {
  auto* out = static_cast<unsigned char*>(to);
  while (n != 0) {
    const uint64_t word = mix(key ^ (offset >> 3) * 0xd6e8feb86659fd93u);
    const uint64_t skip = offset & 7;
    const uint64_t part = std::min(8 - skip, n);
    std::memcpy(out, reinterpret_cast<const unsigned char*>(&word) + skip, part);
    out += part, offset += part, n -= part;
  }
}
// The first n of them.
inline void fill(void* to, uint64_t key, uint64_t n) noexcept {
  fill(to, key, 0, n);
}

inline std::string text(uint64_t key, uint64_t n) {
  std::string bytes(n, '\0');
  fill(bytes.data(), key, 0, n);
  return bytes;
}

}  // namespace scute_tools
