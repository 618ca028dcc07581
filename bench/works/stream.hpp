// SPDX-License-Identifier: BSD-3-Clause
// Reading once, as fast as one thread can: what whole-pool works are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

}  // namespace scute::bench
