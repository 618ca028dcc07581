// SPDX-License-Identifier: BSD-3-Clause
// One crash state: the run, the moment of the power failure, what was durable then, and further
// faults. Its name contains all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testing/recording.hpp"
#include "testing/state_checker.hpp"

namespace scute::testing {

struct state_name {
  uint64_t seed = 0, interleaving = 0;
  uint64_t moment = 0;  // index of the event before which the power fails
  uint64_t variant = 0;

  std::string text() const;
  static std::optional<state_name> parse(const std::string& text);
};

// Moments at which a failure can leave something new: before each fence, where every store since
// the last one may or may not be durable; with durable caches, before every event; and at the end.
std::vector<uint64_t> moments(const trace& t, bool eadr);

// The states that may be found after a failure at that moment.
expectation expected_at(const recording& r, uint64_t moment);

// The steps of each thread at that moment: how many are finished, and whether one is under way.
struct step_count {
  uint64_t done = 0;
  bool under_way = false;
};
std::vector<step_count> steps_at(const recording& r, uint64_t moment);

// Reduces a failing state while it still fails: no fault, fewer crashes, and as few stores as
// possible that are neither all durable nor all lost. The model must be at the moment concerned.
crash_state minimise(state_checker& j, const model::persistence_model& m, const expectation& e,
                     const crash_state& failing);

// The description of a failing state. The model must be at its moment.
std::string story_of(const detail::scenario_state& s, const subject& what, const recording& r,
                     const state_name& name, model::persistence_model& m, const crash_state& c,
                     const check_result& v, const std::string& repeat_command);

}  // namespace scute::testing
