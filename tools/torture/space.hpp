// SPDX-License-Identifier: BSD-3-Clause
// space.hpp: what fits into a pool.
#pragma once

#include <scute/scute.hpp>

#include <cstdint>

namespace scute_torture {

struct space {
  uint64_t small = 0, medium = 0, chunks = 0;  // objects of 100 and 3,000 bytes, and of one chunk
  bool operator==(const space&) const = default;
};

// Fills the pool with each kind until nothing more fits, and frees them again.
space measure(const scute::pool& pool);

}  // namespace scute_torture
