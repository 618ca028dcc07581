// SPDX-License-Identifier: BSD-3-Clause
// The runtime's settings from the environment (shield/supervisor/wire.hpp has the names).
#pragma once

#include <string>

namespace scute::core::interpose {

struct settings {
  bool windows = true;
  bool keep_unflushed = true;
  std::string allowed;     // objects with inline flushes
  std::string supervisor;  // empty: no supervisor holds our views
  bool sites = false;      // events are to be counted by places in the source
  std::string memory;      // bytes that views may take, or "none"; empty: what the machine has
  std::string views;       // the folder that views lie in; empty: memory
  bool page_in = false;    // pages come when they are touched, where they can
  bool huge = false;       // views in memory are of huge pages, where they can be
  std::string
      strays;  // "report", "stop", "ignore"; empty: reported where all code reports its stores
};

// The settings at the beginning of the process.
const settings& asked();

}  // namespace scute::core::interpose
