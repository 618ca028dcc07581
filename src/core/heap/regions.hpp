// SPDX-License-Identifier: BSD-3-Clause
// The whole file as a sequence of regions, by structures instead of byte by byte: the answer of
// scute_locate() for every byte, for pools of any size.
#pragma once

#include <vector>

#include "core/heap/zone_table.hpp"
#include "scute/scute.h"

namespace scute::core::heap {

struct region_range {
  scute_region region;
  uint64_t offset, length;  // of the file; multiples of 32, except where a foreign pool's file ends
};

// Ranges in ascending order, without gaps, from 0 to the end of the file. Neighbours are of
// different regions. Concurrent changes by other threads' transactions may or may not be seen.
std::vector<region_range> map_regions(const pool::state& s, zone_table& zones);

}  // namespace scute::core::heap
