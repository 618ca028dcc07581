// SPDX-License-Identifier: BSD-3-Clause
// Random transactions under a scheme on a machine whose caches and translation buffers are so small
// that all its corners are visited. Then the power fails at every moment at which something became
// durable. After recovery the bytes must be those that the committed transactions have stored; and
// those that had ended are committed.
//
// The unit of isolation is the line: no core stores to a line that another open transaction has
// changed. The scheme demands that of programs: its records are of whole lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "machine/settings.hpp"
#include "schemes/scheme.hpp"

namespace scute::sim {

struct story_plan {
  std::string scheme_name;
  uint64_t seed = 1;
  unsigned cores = 1, pages = 5, lines_used = 6;  // of a page
  unsigned transactions = 40, stores_max = 8;
  unsigned moments_max = 400;
  // Before the first transaction: to plant a bug.
  std::function<void(scheme&)> prepare;
};

struct story_end {
  std::string wrong;  // "" if every recovery was right
  uint64_t crashes = 0, moments = 0;
  scheme::counts of_scheme;
};

// A machine of few lines.
settings small_machine(unsigned cores);
story_end play_story(const story_plan& plan, const settings& s);

}  // namespace scute::sim
