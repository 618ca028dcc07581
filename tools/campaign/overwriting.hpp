// SPDX-License-Identifier: BSD-3-Clause
// overwriting.hpp: pages at rest are overwritten with noise,
// not lost: nothing but checksums can tell which. A full pool with P rows of parity, and in every
// column block at most P such pages, wherever they lie: headers, chunk headers, the zone's
// descriptor, free space, parity. Everything must survive, whichever reader comes first, also if a
// repair is cut short by kill -9.
#pragma once

#include "settings.hpp"

#include <array>
#include <string>
#include <vector>

namespace scute_campaign {

// Where the pages are.
enum class shape {
  pages,    // P of one column block
  table,    // P of a block with chunk headers or the zone's descriptor, those among them
  columns,  // P of each column block
  rows      // P whole rows, or parities
};
inline constexpr std::array shape_names{"pages", "table", "columns", "rows"};

// The first reader.
enum class looker { reader, opener, check, scrub, read_only, killed };
inline constexpr std::array looker_names{"verified reads", "transactions",   "check",
                                         "scrub",          "read-only open", "killed in repair"};

struct overwriting_settings {
  settings how;  // folder, size, seed, trials, trial, spoil, quiet
  std::vector<uint32_t> parities{1, 2, 3, 4};
  std::vector<uint32_t> rows{20};
  std::vector<shape> shapes{shape::pages, shape::table, shape::columns, shape::rows};
  bool kills = true;
};

// Prints a line for each kind of pool and shape. Returns the number of trials in which not
// everything survived.
uint64_t run_overwriting(const overwriting_settings& how);

}  // namespace scute_campaign
