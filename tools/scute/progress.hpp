// SPDX-License-Identifier: BSD-3-Clause
// progress.hpp: how far a long command has come, on stderr. A bar with throughput and time left on
// a terminal, a plain line every few seconds otherwise, nothing when quiet.
#pragma once

#include "terminal_line.hpp"

#include <scute/options.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace scute_tool {

class progress {
 public:
  explicit progress(bool quiet);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  // total 0: unknown. note: more to say at the end of the line, e.g. records so far.
  void update(const std::string& what, uint64_t done, uint64_t total, const std::string& note = {});

  // Takes the bar off the screen, so that what is printed next starts on a clean line.
  void finish();

  // For scute::options and scute::pool::check(); refers to this object.
  scute::progress_function callback();

 private:
  using clock = std::chrono::steady_clock;

  scute_tools::terminal_line line_;
  std::string what_;
  clock::time_point began_ = clock::now();
  uint64_t first_ = 0;  // `done` at the first update: a resumed load does not start at 0
};

}  // namespace scute_tool
