// SPDX-License-Identifier: BSD-3-Clause
// live.hpp: damage to an open pool under load. Threads change
// objects of their own, and know what each must hold; others read the pool's records; all the while
// pages are lost, bits flip, noise is written over objects and structures, and a scrub goes round.
#pragma once

#include "status_line.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace scute_demo {

struct live_outcome {
  uint64_t transactions = 0;
  uint64_t lost_pages = 0, flips = 0, scribbles = 0;  // done to the pool
  uint64_t pages_repaired = 0, repaired = 0;          // pages, and all repairs, by the pool's count
  uint64_t lost = 0;
  uint64_t wrong = 0;  // objects that did not hold what their thread had written
  uint64_t scrubs = 0;
  double seconds = 0;

  uint64_t injuries() const { return lost_pages + flips + scribbles; }
};

// Of the pool at `path`, for that long. The threads remove all that they add to it.
live_outcome damage_under_load(const std::string& path, double seconds, std::mt19937_64& random,
                               status_line& status);

}  // namespace scute_demo
