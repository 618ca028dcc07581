// SPDX-License-Identifier: BSD-3-Clause
// status_line.hpp: what the demo is doing, on stdout: one line per step that is done, and on a
// terminal a changing one for the step that runs.
#pragma once

#include "terminal_line.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace scute_demo {

class status_line {
 public:
  status_line();

  // How far the running step is; fraction 0..1. Throws when the user wants to stop.
  void show(const std::string& step, double fraction, const std::string& text);

  // The step's final result.
  void done(const std::string& step, const std::string& text);

 private:
  scute_tools::terminal_line line_;
};

}  // namespace scute_demo
