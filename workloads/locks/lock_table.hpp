// SPDX-License-Identifier: BSD-3-Clause
// Locks in DRAM for the nodes of a structure: a node's lock has a number, which is kept next to the
// references to the node. Numbers are handed out, and given back when the node is gone.
//
// Threads: all calls may be made at the same time. Give a number back when no thread waits for its
// lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "workloads/locks/node_lock.hpp"

namespace scute::workloads {

class lock_table {
 public:
  lock_table() = default;
  ~lock_table() {
    for (const std::atomic<chunk*>& c : chunks_) delete c.load();
  }
  lock_table(const lock_table&) = delete;
  lock_table& operator=(const lock_table&) = delete;

  node_lock& of(uint32_t number) noexcept {
    return (*chunks_[number / per_chunk].load(std::memory_order_acquire))[number % per_chunk].lock;
  }

  // Throws std::bad_alloc.
  uint32_t take() {
    const std::lock_guard hold(mutex_);
    if (free_.empty())
      extend_to(next_);
    else {
      const uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    return next_++;
  }
  void give_back(uint32_t number) {
    const std::lock_guard hold(mutex_);
    free_.push_back(number);
  }
  // Numbers that nodes have that were there before: these, and no others, are taken. No other
  // thread is here yet.
  void adopt(std::vector<uint32_t> numbers) {
    std::ranges::sort(numbers);
    uint32_t next = 0;
    for (const uint32_t number : numbers) {
      for (; next < number; ++next) free_.push_back(next);
      next = number + 1;
    }
    next_ = next;
    for (uint32_t n = 0; n < next; n += per_chunk) extend_to(n);
    if (next != 0) extend_to(next - 1);
  }

 private:
  static constexpr uint32_t per_chunk = 1024, chunks_max = 1 << 16;
  struct alignas(64) padded {
    node_lock lock;
  };
  using chunk = std::array<padded, per_chunk>;

  void extend_to(uint32_t number) {
    if (number / per_chunk >= chunks_max) throw std::bad_alloc();
    std::atomic<chunk*>& c = chunks_[number / per_chunk];
    if (c.load(std::memory_order_relaxed) == nullptr)
      c.store(new chunk(), std::memory_order_release);
  }

  std::vector<std::atomic<chunk*>> chunks_ = std::vector<std::atomic<chunk*>>(chunks_max);
  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t next_ = 0;
};

}  // namespace scute::workloads
