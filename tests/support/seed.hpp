// SPDX-License-Identifier: BSD-3-Clause
// Randomness that can be repeated: every run prints its seed, SCUTE_TEST_SEED=<number> runs it
// again.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace scute::test {

inline uint64_t test_seed() {
  const char* given = std::getenv("SCUTE_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

class random_source {
 public:
  explicit random_source(uint64_t seed) : engine_(seed) {
    std::printf("SCUTE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);  // so that it is seen even if the test kills the process
  }
  // A source that follows from another one, silently.
  explicit random_source(random_source& parent) : engine_(parent.word()) {}

  uint64_t word() { return engine_(); }
  // Uniform in [low, high].
  uint64_t between(uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(engine_);
  }
  bool one_in(uint64_t n) { return between(1, n) == 1; }
  // Up to max, small sizes as likely as large ones.
  uint64_t size(uint64_t max) {
    const uint64_t scaled = max >> between(0, 12);
    return between(1, scaled == 0 ? 1 : scaled);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace scute::test

#define SCUTE_RANDOM(name)                                        \
  const uint64_t name##_seed = ::scute::test::test_seed();        \
  SCOPED_TRACE("SCUTE_TEST_SEED=" + std::to_string(name##_seed)); \
  ::scute::test::random_source name(name##_seed)
