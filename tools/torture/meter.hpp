// SPDX-License-Identifier: BSD-3-Clause
// meter.hpp: how far the run has come, on stderr: a bar on a terminal, a line every few seconds
// otherwise, nothing when quiet.
#pragma once

#include "terminal_line.hpp"

#include <chrono>
#include <cstdint>

namespace scute_torture {

class meter {
 public:
  explicit meter(bool quiet);

  // fraction 0..1 of the time or the kills asked for; negative: there is no end.
  void show(double fraction, uint64_t kills, uint64_t transactions);
  void clear() { line_.clear(); }
  double seconds() const;  // since the beginning

 private:
  using clock = std::chrono::steady_clock;

  scute_tools::terminal_line line_;
  clock::time_point began_ = clock::now();
};

}  // namespace scute_torture
