// SPDX-License-Identifier: BSD-3-Clause
// rest_campaign.hpp: the grid of trials at rest, shared out to processes.
#pragma once

#include "settings.hpp"

#include <string>
#include <vector>

namespace scute_campaign {

// Sums over the trials of a cell. Lives in memory that the processes share.
struct cell_result {
  uint32_t trials, all_back;  // all_back: every object read as it was
  uint32_t all_survivable;    // the oracle said so of every object
  uint32_t within,
      // no column of bytes had more damaged cells than parities; and then every object came back
      within_back;
  uint32_t refused_opens;  // the pool could not be opened any more
  uint32_t broken;         // trials in which something promised was not kept
  uint32_t broken_first;   // the first one
  uint64_t errors, errors_beside, objects, right, refused, unchecked, silent, survivable,
      saved_besides;
  char broken_text[360];
};

struct cell_report {
  cell where;
  cell_result result;
};

// The cells of the grid, or the one that is named; throws if there is none.
std::vector<cell> grid(const settings& how);

// Runs it. A process that dies is a broken trial, too.
std::vector<cell_report> run_at_rest(const settings& how, const std::vector<cell>& cells);

}  // namespace scute_campaign
