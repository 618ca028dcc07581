// SPDX-License-Identifier: BSD-3-Clause
// A machine: cores, caches, memory. The code that has the program drives cores that run at the same
// time; the core whose time is least goes first.
//
// SIM-1 The same instructions on the same settings give the same times and counts, always.
#pragma once

#include <algorithm>
#include <vector>

#include "machine/caches.hpp"
#include "machine/core.hpp"
#include "machine/memory.hpp"
#include "machine/settings.hpp"

namespace scute::sim {

class machine {
 public:
  explicit machine(const settings& s) : numbers(s), mem(s), cache(s, mem) {
    for (unsigned i = 0; i < s.cores; ++i) cores.emplace_back(i, s, cache, mem);
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  // When all cores are done.
  ticks end() const noexcept {
    ticks last = 0;
    for (const core& c : cores) last = std::max(last, c.end());
    return last;
  }

  const settings numbers;
  memory mem;
  caches cache;
  std::vector<core> cores;
};

}  // namespace scute::sim
