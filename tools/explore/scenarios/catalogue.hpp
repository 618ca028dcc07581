// SPDX-License-Identifier: BSD-3-Clause
// All scenarios that Scute itself is explored with.
#pragma once

#include <scute/testing.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace scute::explore {

struct entry {
  std::string name;   // such as "overwrite/mlpc"
  std::string about;  // in a few words
  std::function<testing::basic_scenario(uint64_t seed)> make;
  // In place of it, for what is held against a reference of its own.
  std::function<testing::exploration(const testing::explore_options&)> by_itself = {};

  testing::exploration explore(const testing::explore_options& how) const {
    return by_itself ? by_itself(how) : testing::explore(make, how);
  }
};

// In the order of the listing; names are unique.
const std::vector<entry>& catalogue();

// The parts of it, each appended to `to`.
void add_object_scenarios(std::vector<entry>& to);  // one object at a time, by hand
void add_placement_scenarios(
    std::vector<entry>& to);                        // several objects: same row, same column, ...
void add_random_scenarios(std::vector<entry>& to);  // random transactions
void add_thread_scenarios(std::vector<entry>& to);  // interleaved threads
void add_contender_scenarios(std::vector<entry>& to);    // threads that write the same objects
void add_container_scenarios(std::vector<entry>& to);    // the containers
void add_life_scenarios(std::vector<entry>& to);         // create, open, close, superblock
void add_repair_scenarios(std::vector<entry>& to);       // injuries, and repairs in progress
void add_log_scenarios(std::vector<entry>& to);          // logs at their limits
void add_chunk_cache_scenarios(std::vector<entry>& to);  // chunks that logs keep
void add_owner_scenarios(std::vector<entry>& to);        // lanes that meet in a column block
void add_chunk_scenarios(std::vector<entry>& to);        // how chunks come into use
void add_slot_reuse_scenarios(std::vector<entry>& to);   // large ones in slots of older ones
void add_fragment_scenarios(std::vector<entry>& to);     // objects of several fragments
void add_injury_scenarios(std::vector<entry>& to);       // misplaced and stale writes, worse damage
void add_lost_page_scenarios(std::vector<entry>& to);    // pages that cannot be read
// Engine logfree (logfree_*.cpp):
void add_ring_scenarios(std::vector<entry>& to);        // transactions over several objects
void add_window_scenarios(std::vector<entry>& to);      // threads whose columns meet
void add_hand_scenarios(std::vector<entry>& to);        // lanes in the hands of several threads
void add_unresolved_scenarios(std::vector<entry>& to);  // instant recovery
void add_remains_scenarios(std::vector<entry>& to);     // the same: slots, chunks, caches, damage
void add_parts_scenarios(std::vector<entry>& to);       // rings through further fragments
void add_several_scenarios(std::vector<entry>& to);     // cases that several parities allow

// Engine spec (spec.cpp):
void add_spec_scenarios(std::vector<entry>& to);
// columns that an opening leaves to be resolved
void add_spec_unresolved_scenarios(std::vector<entry>& to);
void add_log_damage_scenarios(std::vector<entry>& to);  // damage to the log
void add_track_scenarios(std::vector<entry>& to);       // a log in tracks, and damage to it
void add_log_file_scenarios(std::vector<entry>& to);    // the same, with a log file
void add_log_copy_scenarios(std::vector<entry>& to);    // the file of another copy of the pool
void add_allocation_scenarios(std::vector<entry>& to);  // and what allocations need there

// Kinds of pools, in words and as the library has them: engine redo at the protection levels, and
// engines logfree and spec with one row of parity and with more; spec with less protection as well.
struct level {
  const char* name;
  testing::pool_kind protection;
};
inline constexpr level levels[] = {{"none", {SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO}},
                                   {"ml", {SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO}},
                                   {"mlp", {SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO}},
                                   {"mlpc", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO}},
                                   {"logfree", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE}},
                                   {"logfree2", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 2}}};
inline constexpr level spec_levels[] = {{"spec0", {SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC}},
                                        {"spec", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC}},
                                        {"spec2", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC, 2}},
                                        {"spec4", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC, 4}},
                                        {"spec-ml", {SCUTE_PROTECT_ML, SCUTE_ENGINE_SPEC}},
                                        {"spec-mlp", {SCUTE_PROTECT_MLP, SCUTE_ENGINE_SPEC}}};
// All of them, for scenarios that a seed varies.
inline constexpr level every_level[] = {
    levels[0],      levels[1],      levels[2],      levels[3],      levels[4],      levels[5],
    spec_levels[0], spec_levels[1], spec_levels[2], spec_levels[3], spec_levels[4], spec_levels[5]};
// Where engine spec has its log.
enum class log_in : uint8_t { pool, file };
inline constexpr testing::pool_kind redo = levels[3].protection, logfree = levels[4].protection;

// A kind of scenario that is made at several levels, as "name/level".
struct leveled {
  const char* name;
  const char* about;
  testing::scenario (*make)(const level&);
};
void add_at(std::initializer_list<level> levels_wanted, std::initializer_list<leveled> kinds,
            std::vector<entry>& to);
// The same for engine logfree, with either number of parities.
struct log_free {
  const char* name;
  const char* about;
  testing::scenario (*make)(const level&, uint64_t seed);
};
void add_log_free(std::initializer_list<log_free> kinds, std::vector<entry>& to);
void add_at_all_levels(std::initializer_list<leveled> kinds, std::vector<entry>& to);
void add_pow_scenarios(std::vector<entry>& to);  // persist-on-write files (tests/pow/scenarios.hpp)
void add_view_scenarios(
    std::vector<entry>& to);  // views of shielded files (tests/view/scenarios.hpp)
void add_shield_scenarios(std::vector<entry>& to);  // shielded files (tests/shield/scenarios.hpp)

}  // namespace scute::explore
