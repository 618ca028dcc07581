// SPDX-License-Identifier: BSD-3-Clause
// Describes the former contents of a place in a segment that has no valid frame. If a frame's head
// is intact and its body is not, its bytes still say, as far as they are plausible, which objects
// it was about. This is reported to people; no decision depends on it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pow/recovery/damage.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

class salvage_report {
 public:
  // For lines [from, to) of the segment. Entries and places of the catalogue are known already.
  salvage_report(state& s, uint32_t segment, uint64_t from, uint64_t to);

  // "objects 3 to 17 of table accounts (4 records)", or that nothing is known.
  std::string text() const;
  // The same, by table.
  std::vector<damage_range> ranges() const;

 private:
  struct range {
    uint64_t first = UINT64_MAX, last = 0, records = 0;
  };
  // Empty: not known.
  std::string name_of(uint32_t table) const;

  state& s_;
  std::map<uint32_t, range> of_;  // by table
};

}  // namespace scute::core::pow
