// SPDX-License-Identifier: BSD-3-Clause
// A report of something that differs from what was written: in words, and in numbers for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scute::core::pow {

struct damage_range {  // objects of one table
  uint32_t table;      // its number
  std::string name;    // empty: not known
  uint64_t first, last, records;
};

struct damage_note {
  uint32_t segment;
  std::string text;
  bool lost;  // beyond the redundancy
  // Where the lost bytes lay: lines of the segment; none: not known.
  uint64_t from = 0, to = 0;
  // Batches; 0: not known.
  uint64_t first = 0, last = 0;
  // Of the segment; session 0: not known.
  uint32_t lane = 0;
  uint64_t session = 0;
  std::vector<damage_range> objects{};  // as far as they are known
};

}  // namespace scute::core::pow
