// SPDX-License-Identifier: BSD-3-Clause
// Lists the contents of a file, for people and tools.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pow/state.hpp"

namespace scute::core::pow {

struct table_facts {
  std::string name;
  uint32_t number, type, size;
  uint64_t objects, bytes;  // that there are; without heads
};
// Visits the tables that have a name, in the order of their numbers. Other threads' sections may
// change the counts meanwhile.
void for_each_table(state& s, const std::function<void(const table_facts&)>& fn);

struct segment_facts {
  uint32_t number;
  use what;
  uint64_t offset, lane, session, generation, live;
  uint32_t group;  // of a member: the number of its seal
};
void for_each_segment(state& s, const std::function<void(const segment_facts&)>& fn);

}  // namespace scute::core::pow
