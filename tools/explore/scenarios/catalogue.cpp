// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/catalogue.hpp"

namespace scute::explore {

const std::vector<entry>& catalogue() {
  static const std::vector<entry> all = [] {
    std::vector<entry> list;
    add_life_scenarios(list);
    add_object_scenarios(list);
    add_placement_scenarios(list);
    add_random_scenarios(list);
    add_thread_scenarios(list);
    add_container_scenarios(list);
    add_repair_scenarios(list);
    add_log_scenarios(list);
    add_owner_scenarios(list);
    add_chunk_scenarios(list);
    add_injury_scenarios(list);
    return list;
  }();
  return all;
}

}  // namespace scute::explore
