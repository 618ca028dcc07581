// SPDX-License-Identifier: BSD-3-Clause
// A lock for a few instructions that a signal handler may take as well: it spins. Whoever holds it
// touches nothing that could fault, or its own handler would wait for it.
#pragma once

#include <atomic>

#include "medium/waiting.hpp"

namespace scute::medium {

struct turn {
  explicit turn(std::atomic_flag& f) noexcept : flag(f) {
    for (unsigned spins = 0; flag.test_and_set(std::memory_order_acquire);) spin_pause(spins);
  }
  ~turn() { flag.clear(std::memory_order_release); }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  std::atomic_flag& flag;
};

}  // namespace scute::medium
