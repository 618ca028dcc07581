// SPDX-License-Identifier: BSD-3-Clause
// Randomness that can be repeated: SCUTE_TEST_SEED=<number> runs a failed test again.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace scute::core::codec::test {

inline uint64_t test_seed() {
  const char* given = std::getenv("SCUTE_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

class random_source {
 public:
  explicit random_source(uint64_t seed) : engine_(seed) {}

  // Uniform in [low, high].
  uint64_t between(uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(engine_);
  }

  // In [0, max], small values and round ones as likely as large ones: edges are where kernels
  // differ.
  size_t length(size_t max) {
    const size_t scaled = max >> between(0, 12);
    const auto n = static_cast<size_t>(between(0, scaled));
    return between(0, 3) == 0 ? n / 64 * 64 : n;
  }

  uint32_t word() { return static_cast<uint32_t>(engine_()); }

  void fill(unsigned char* p, size_t n) {
    for (size_t i = 0; i < n; ++i) p[i] = static_cast<unsigned char>(engine_() >> 56);
  }

  std::vector<unsigned char> bytes(size_t n) {
    std::vector<unsigned char> v(n);
    fill(v.data(), n);
    return v;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace scute::core::codec::test

#define SCUTE_RANDOM(name)                                        \
  const uint64_t name##_seed = ::scute::core::codec::test::test_seed(); \
  SCOPED_TRACE("SCUTE_TEST_SEED=" + std::to_string(name##_seed)); \
  ::scute::core::codec::test::random_source name(name##_seed)
