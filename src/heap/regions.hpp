// SPDX-License-Identifier: BSD-3-Clause
// The whole file as a sequence of regions, by structures instead of byte by byte: what scute_locate()
// says of every byte, for pools of any size.
#pragma once

#include <vector>

#include "heap/zone_table.hpp"
#include "scute/scute.h"

namespace scute::core::heap {

struct region_range {
  scute_region region;
  uint64_t offset, length;  // of the file; multiples of 32, except where a foreign pool's file ends
};

// Ranges in ascending order, without gaps, from 0 to the end of the file; neighbours are of different
// regions. What transactions of other threads change meanwhile is seen or not.
std::vector<region_range> map_regions(const pool::state& s, zone_table& zones);

// The parts of a foreign pool's span in one zone that are in use. The rest of the span is room to grow.
struct foreign_parts {
  uint64_t headers, headers_end;
  uint64_t payload, payload_end;
  // The last page of the file goes on to here in memory, and in no file.
  uint64_t memory_end;

  bool in_use(uint64_t offset) const noexcept {
    return (offset >= headers && offset < headers_end) ||
           (offset >= payload && offset < payload_end);
  }
};
// s.foreign is there.
foreign_parts foreign_parts_of(const pool::state& s, uint64_t zone) noexcept;

}  // namespace scute::core::heap
