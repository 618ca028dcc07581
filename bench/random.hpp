// SPDX-License-Identifier: BSD-3-Clause
// The one source of randomness: every sequence follows from --seed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace scute::bench {

// SplitMix64 (Steele, Lea, Flood; OOPSLA 2014).
class random_source {
 public:
  explicit random_source(uint64_t seed) : state_(seed) {}

  uint64_t next() noexcept {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t n) noexcept { return next() % n; }

 private:
  uint64_t state_;
};

// Brings `count` random elements to the front, in random order.
template <typename T>
void shuffle_front(std::vector<T>& v, size_t count, random_source& random) {
  for (size_t i = 0; i < count && i + 1 < v.size(); ++i)
    std::swap(v[i], v[i + random.below(v.size() - i)]);
}

}  // namespace scute::bench
