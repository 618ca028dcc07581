// SPDX-License-Identifier: BSD-3-Clause
// What the library remembers per thread: its transaction, its usual lane, its last error.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace scute {

class instance;
namespace tx {
class transaction;
}

// Tells whether a pool is still open; outlives it, so that a thread whose transaction another
// thread's scute_close() ended can find out. Costs 8 bytes per pool ever opened.
struct pool_life {
  std::atomic<bool> open{true};
};
pool_life* new_pool_life();

// Says whether a thread is using the lane that it leases (see lane_leases). Never freed; handed on
// to a later thread when its own ends.
struct alignas(64) lease_holder {
  std::atomic<bool> active{false};
};

struct thread_state {
  uint32_t ordinal;  // spreads threads over lanes
  lease_holder* const holder;
  instance* pool = nullptr;  // on which `current` runs
  tx::transaction* current = nullptr;
  const pool_life* life = nullptr;  // of `pool`
  uint64_t last_pool = 0;           // serial
  int last_lane = -1;
  std::string message;  // of the last error

  thread_state();
  ~thread_state();
  // Forgets a transaction that ended with its pool.
  void refresh() noexcept {
    if (current == nullptr || life->open.load(std::memory_order_acquire)) return;
    pool = nullptr;
    current = nullptr;
    holder->active.store(false, std::memory_order_release);
  }
};

thread_state& this_thread() noexcept;

}  // namespace scute
