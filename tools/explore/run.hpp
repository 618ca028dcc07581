// SPDX-License-Identifier: BSD-3-Clause
// Runs scenarios in processes of their own, a few at a time, and reports the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/catalogue.hpp"

namespace scute::explore {

struct run_options {
  testing::explore_options each;  // for every scenario
  unsigned jobs = 1;
  bool quiet = false;  // no line for a scenario that is sound
  std::string repeat;  // command line up to the scenario's name, for stories
};

struct summary {
  uint64_t states = 0, recrashed = 0, damaged = 0, interleavings = 0;
  uint64_t scenarios = 0, violated = 0;
  double seconds = 0;  // of all scenarios together

  summary& operator+=(const summary& s) {
    states += s.states;
    recrashed += s.recrashed;
    damaged += s.damaged;
    interleavings += s.interleavings;
    scenarios += s.scenarios;
    violated += s.violated;
    seconds += s.seconds;
    return *this;
  }
};

// Prints a line for each scenario, and the story of each violation. With a terminal on standard
// error there is a status line besides.
summary run(const std::vector<entry>& scenarios, const run_options& how);

}  // namespace scute::explore
