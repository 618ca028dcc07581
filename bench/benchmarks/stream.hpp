// SPDX-License-Identifier: BSD-3-Clause
// Reading once, as fast as one thread can. Workloads over a whole pool are compared with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "crew.hpp"

namespace scute::bench {

// The sum of all words of [p, p+n), n a multiple of 64; four chains keep the loads coming.
inline uint64_t read_all(const std::byte* p, uint64_t n) {
  uint64_t sum[4] = {};
  for (uint64_t i = 0; i < n; i += 64) {
    uint64_t w[8];
    std::memcpy(w, p + i, sizeof w);
    for (int k = 0; k < 8; ++k) sum[k % 4] += w[k];
  }
  return sum[0] + sum[1] + sum[2] + sum[3];
}

// Estimates the time that `threads` threads need to read `bytes` that they share, from reading as
// much of [p, p+size).
inline double read_ns(crew& workers, unsigned threads, const std::byte* p, uint64_t size,
                      uint64_t bytes) {
  const uint64_t part = std::min(bytes, size) / threads & ~uint64_t{63};
  const uint64_t begin = now_ns();
  workers.run(threads, [&](unsigned t) {
    const uint64_t sum = read_all(p + t * part, part);
    asm volatile("" : : "r"(sum));  // keeps the sum from being optimized away
  });
  return static_cast<double>(now_ns() - begin) * static_cast<double>(bytes) /
         static_cast<double>(part * threads);
}

}  // namespace scute::bench
