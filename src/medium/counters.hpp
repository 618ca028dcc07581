// SPDX-License-Identifier: BSD-3-Clause
// Cost counters: what reached the medium, by purpose. One set per lane, written by the lane's
// holder only and read by anybody, hence relaxed atomics without read-modify-write instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace scute::core::medium {

// What a write is for; every byte written is counted under one of these.
enum class purpose : uint8_t { data, parity, log, metadata };
inline constexpr int purpose_count = 4;

class counter {
 public:
  void add(uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct counters {
  counter transactions, aborts;
  counter fences, lines;
  counter bytes[purpose_count];
  counter allocs, frees;
  counter lock_waits;
  counter settles;
  counter fallbacks;
  counter logged;     // engine logfree: transactions that went through the log
  counter drains;     // deferred parity that was made durable for others
  counter demotions;  // transactions whose in-place ranges had to give up their columns
  counter heals, losses;
  counter verified_bytes;
};

}  // namespace scute::core::medium
