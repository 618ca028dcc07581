// SPDX-License-Identifier: BSD-3-Clause
// shielded_program.hpp: what `scute shield run` and `scute shield audit` have in common: the program and its options.
#pragma once

#include <scute/shield_run.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace scute_tool {

// One view's counts, kept.
struct view_counts {
  std::string file;
  scute_shield_counts counts{};
};

struct shielded_program {
  std::vector<std::string> words;  // the program and its arguments
  std::string windows = "pmemobj", unflushed = "keep", runtime;
  std::vector<std::string> allowed;

  void add_to(CLI::App& app);
  // Throws failure. Counts of views, in the order of their ends; problems with files go to standard error.
  scute_shield_outcome run(std::vector<view_counts>& counts) const;
};

// What the shell would say of it: 128 and the signal's number for a program that was killed.
int status_of(const scute_shield_outcome& outcome);

}  // namespace scute_tool
