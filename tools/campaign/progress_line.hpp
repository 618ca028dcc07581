// SPDX-License-Identifier: BSD-3-Clause
// progress_line.hpp: how far it is and how long it will take, on stderr: one changing line on a
// terminal, a line per minute elsewhere.
#pragma once

#include "terminal_line.hpp"

#include <chrono>
#include <string>

namespace scute_campaign {

class progress_line {
 public:
  explicit progress_line(bool quiet);
  // fraction 0..1
  void show(double fraction, const std::string& text);
  void clear() { line_.clear(); }

 private:
  using clock = std::chrono::steady_clock;

  scute_tools::terminal_line line_;
  clock::time_point begun_ = clock::now();
};

}  // namespace scute_campaign
