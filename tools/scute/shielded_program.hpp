// SPDX-License-Identifier: BSD-3-Clause
// shielded_program.hpp: what `scute shield run` and `scute
// shield audit` have in common: the program and its options.
#pragma once

#include <scute/shield_run.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace scute_tool {

// The counts at a place in the program's source, and a finding about a line of a file.
struct site_counts {
  std::string source, function;
  scute_shield_site_counts counts{};
};
struct line_finding {
  std::string stored_source, flushed_source;
  scute_shield_finding finding{};
};

// One view, kept.
struct view_counts {
  std::string file;
  std::string unreported_objects;
  scute_shield_counts counts{};
  std::vector<site_counts> sites;  // with sites only, these two
  std::vector<line_finding> findings;
};

// The findings about a program, in the order of the views' ends.
struct program_notice {
  std::vector<view_counts> views;
};

struct shielded_program {
  std::vector<std::string> words;  // the program and its arguments
  std::string windows = "pmemobj", unflushed = "keep", strays, runtime, memory, views;
  bool sites = false;  // count by places in the source
  std::vector<std::string> allowed;
  std::vector<std::string> required;  // files that have to be shielded
  bool page_in = false;
  bool huge_pages = false;

  void add_to(CLI::App& app);
  // Throws failure. Problems with files go to standard error.
  scute_shield_outcome run(program_notice& noticed) const;
};

// The status that a shell would give it: 128 and the signal's number for a program that was killed.
int status_of(const scute_shield_outcome& outcome);

}  // namespace scute_tool
