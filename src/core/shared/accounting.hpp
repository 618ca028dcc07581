// SPDX-License-Identifier: BSD-3-Clause
// Counts object bytes that were handed out without a checksum test: bytes that a program uses
// unverified (Pangolin 4.5, Table 4). Each access counts, as often as it happens. Reads of a
// transaction from its own micro-buffer do not count, since the buffer was tested when it was made.
//
// Threads count in cells of their own. A scrub takes the sum since the last scrub when it ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/locks/lock.hpp"
#include "base/process/thread_block.hpp"

namespace scute::core::pool {

class accounting {
 public:
  // To be called before the first add().
  void enable() { cells_ = std::make_unique<cell[]>(cells); }
  bool enabled() const noexcept { return cells_ != nullptr; }

  void add(uint64_t n) noexcept {
    if (cells_) cells_[my_cell()].bytes.fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t total() const noexcept {
    uint64_t sum = 0;
    for (unsigned i = 0; cells_ && i < cells; ++i)
      sum += cells_[i].bytes.load(std::memory_order_relaxed);
    return sum;
  }
  // A scrub has tested the whole pool, so everything handed out before it is tested now.
  void scrubbed() noexcept {
    const locked hold(mutex_);
    ++scrubs_;
    const uint64_t now = total();
    most_ = std::max(most_, now - base_);
    base_ = now;
  }
  // The most between two scrubs, or since the pool was opened.
  uint64_t most() const noexcept {
    const locked hold(mutex_);
    return std::max(most_, total() - base_);
  }
  uint64_t scrubs() const noexcept {
    const locked hold(mutex_);
    return scrubs_;
  }

 private:
  static constexpr unsigned cells = 64;  // more threads than that share some
  struct alignas(64) cell {
    std::atomic<uint64_t> bytes{0};
  };
  static unsigned my_cell() noexcept {
    static std::atomic<unsigned> next{0};
    uint32_t& mine = own_thread_block().cell;
    if (mine == 0) mine = next.fetch_add(1, std::memory_order_relaxed) % cells + 1;
    return mine - 1;
  }

  std::unique_ptr<cell[]> cells_;
  mutable plain_mutex mutex_;
  uint64_t base_ SCUTE_GUARDED_BY(mutex_) = 0;
  uint64_t most_ SCUTE_GUARDED_BY(mutex_) = 0;
  uint64_t scrubs_ SCUTE_GUARDED_BY(mutex_) = 0;
};

}  // namespace scute::core::pool
