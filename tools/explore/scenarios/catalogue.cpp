// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/catalogue.hpp"

namespace scute::explore {

void add_at(std::initializer_list<level> levels_wanted, std::initializer_list<leveled> kinds,
            std::vector<entry>& to) {
  for (const leveled& k : kinds)
    for (const level& l : levels_wanted)
      to.push_back({std::string(k.name) + "/" + l.name, k.about,
                    [make = k.make, l](uint64_t) { return make(l); }});
}

void add_log_free(std::initializer_list<log_free> kinds, std::vector<entry>& to) {
  for (const log_free& k : kinds)
    for (const level& l : {levels[4], levels[5]})
      to.push_back({std::string(k.name) + "/" + l.name, k.about,
                    [make = k.make, l](uint64_t seed) { return make(l, seed); }});
}

void add_at_all_levels(std::initializer_list<leveled> kinds, std::vector<entry>& to) {
  add_at({levels[0], levels[1], levels[2], levels[3], levels[4], levels[5]}, kinds, to);
  add_at({spec_levels[0], spec_levels[1], spec_levels[2], spec_levels[3], spec_levels[4],
          spec_levels[5]},
         kinds, to);
}

const std::vector<entry>& catalogue() {
  static const std::vector<entry> all = [] {
    std::vector<entry> list;
    add_life_scenarios(list);
    add_object_scenarios(list);
    add_placement_scenarios(list);
    add_random_scenarios(list);
    add_thread_scenarios(list);
    add_contender_scenarios(list);
    add_container_scenarios(list);
    add_repair_scenarios(list);
    add_log_scenarios(list);
    add_chunk_cache_scenarios(list);
    add_owner_scenarios(list);
    add_chunk_scenarios(list);
    add_slot_reuse_scenarios(list);
    add_fragment_scenarios(list);
    add_injury_scenarios(list);
    add_lost_page_scenarios(list);
    add_ring_scenarios(list);
    add_window_scenarios(list);
    add_hand_scenarios(list);
    add_unresolved_scenarios(list);
    add_remains_scenarios(list);
    add_parts_scenarios(list);
    add_several_scenarios(list);
    add_spec_scenarios(list);
    add_spec_unresolved_scenarios(list);
    add_log_damage_scenarios(list);
    add_track_scenarios(list);
    add_log_file_scenarios(list);
    add_log_copy_scenarios(list);
    add_allocation_scenarios(list);
    add_pow_scenarios(list);
    add_view_scenarios(list);
    add_shield_scenarios(list);
    return list;
  }();
  return all;
}

}  // namespace scute::explore
