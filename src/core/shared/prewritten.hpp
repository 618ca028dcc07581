// SPDX-License-Identifier: BSD-3-Clause
// Bytes of new objects that are in place with their parity before the headers that will cover them
// (core/tx/ending.cpp, "prewritten").
//
// PREWRITE-1 They are entered here before the first of them is stored, until the header is in place
//    or the transaction has ended without it. If their columns become inconsistent meanwhile, no
//    new parity is computed: it would encode the damage. (Found by reading.)
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "core/layout/geometry.hpp"

namespace scute::core::pool {

class prewritten {
 public:
  void add(uint32_t lane, uint64_t offset, uint64_t length) {
    const locked hold(mutex_);
    all_.push_back({lane, offset, length});
    count_.store(all_.size(), std::memory_order_release);
  }
  // Removes all entries of the lane.
  void end(uint32_t lane) noexcept {
    const locked hold(mutex_);
    std::erase_if(all_, [lane](const part& p) { return p.lane == lane; });
    count_.store(all_.size(), std::memory_order_release);
  }
  // Whether any of them has a cell in the columns [column, column + length) of a zone.
  bool touches(const geometry& g, uint64_t zone, uint64_t column, uint64_t length) const noexcept {
    if (count_.load(std::memory_order_acquire) == 0) return false;
    const locked hold(mutex_);
    return std::any_of(all_.begin(), all_.end(), [&](const part& p) {
      const cell c = cell_of(g, p.offset);
      if (c.zone != zone) return false;
      if (p.length >= g.row_size) return true;
      const uint64_t end = c.column + p.length;
      return (c.column < column + length && column < end) ||
             (end > g.row_size && column < end - g.row_size);
    });
  }

 private:
  struct part {
    uint32_t lane;
    uint64_t offset, length;
  };
  mutable waiting_mutex mutex_;
  std::vector<part> all_ SCUTE_GUARDED_BY(mutex_);
  std::atomic<size_t> count_{0};
};

}  // namespace scute::core::pool
