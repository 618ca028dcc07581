// SPDX-License-Identifier: BSD-3-Clause
// One run of a scenario without a failure: its trace, and what the observers read after each step.
#pragma once

#include <string>
#include <vector>

#include "testing/scenario_state.hpp"
#include "testing/scheduler.hpp"
#include "testing/trace.hpp"

namespace scute::testing {

struct recording {
  schedule order;
  trace events;
  // [thread][k]: the text that the thread's observer read after k steps. Empty: there was no
  // subject.
  std::vector<std::vector<std::string>> states;
  bool begins_without_subject = false;
  bool damaged = false;     // the scenario injures its subject
  uint64_t operations = 0;  // moments at which threads could have been switched
  uint64_t fences = 0;      // of them
  std::string failed;       // the failure without a power failure
};

// The durable image from which the steps start: after setup and a proper close. Here and below, the
// subject must be closed, and is closed afterwards.
model::persistence_model::image start_image(const detail::scenario_state& s, subject& what,
                                            uint64_t seed);

recording record(const detail::scenario_state& s, subject& what,
                 const model::persistence_model::image& from, const schedule& order, uint64_t seed,
                 bool eadr);

// Orders to try, from plain ones to ones with several preemptions; `operations` and `fences` are
// the counts of a first recording. Half of the orders with preemptions prefer fences, where
// protocols change from one state to the next, and short turns, which fit into another thread's
// critical moment.
std::vector<schedule> schedules(size_t threads, uint64_t operations, uint64_t fences,
                                uint64_t count, uint64_t seed);

}  // namespace scute::testing
