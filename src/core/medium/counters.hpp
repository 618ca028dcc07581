// SPDX-License-Identifier: BSD-3-Clause
// Cost counters: the bytes that reached the medium, by purpose. There is one set per lane. Only the
// lane's holder writes it and any thread may read it, hence relaxed atomics without
// read-modify-write instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace scute::core::medium {

// The purpose of a write; every byte written counts under one.
enum class purpose : uint8_t { data, parity, log, metadata };
inline constexpr int purpose_count = 4;

// Lines of 64 bytes that n bytes from `at` on touch.
constexpr uint64_t lines_of(uint64_t at, uint64_t n) noexcept {
  return n == 0 ? 0 : ((at + n - 1) >> 6) - (at >> 6) + 1;
}

// The writes of one commit, before they are counted.
struct tally {
  uint64_t bytes[purpose_count]{};
  uint64_t lines = 0;

  void add(purpose why, uint64_t at, uint64_t n) noexcept {
    bytes[static_cast<int>(why)] += n;
    lines += lines_of(at, n);
  }
};

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
  counter peer_invalidations;
  counter fallbacks;
  counter shorts;       // engine logfree: transactions that took the short path
  counter logged;       // engine logfree: transactions that went through the log
  counter drains;       // deferred parity that was made durable for other threads
  counter undo_spills;  // transactions whose in-place ranges had to give up their columns
  counter repairs, losses;
  counter verified_bytes;
};

}  // namespace scute::core::medium
