// SPDX-License-Identifier: BSD-3-Clause
// Measures where the time of a transaction goes: a clock per stage, for benchmarks (CodePM's Figure
// 11). While the clock is off, a scope costs a test of one byte that never changes. So scopes
// surround steps of a transaction, not loops. While it is on, a scope reads the time-stamp counter
// twice, which the benchmark measures and subtracts.
//
// An inner scope's time does not count for the outer one. One thread is timed at a time, the one
// that called start(). Scopes of other threads, such as the one that drains idle lanes, do nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/process/thread_block.hpp"

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace scute::core::medium {

enum class cost_part : uint8_t {
  outside,   // the program, and code outside of any scope
  begin,     // a lane, a new transaction number
  allocate,  // slots reserved; their headers written when a chunk is new
  open,      // objects verified and copied to micro-buffers
  seal,      // guard bytes, changed ranges, checksums
  plan,      // columns found, locked, deltas prepared
  log,       // entries written, logs retired
  data,      // objects written
  parity,    // parity read, computed and written
  fence,     // waiting for what was written
  end,       // slots given back, the lane too
};
inline constexpr size_t cost_parts = 11;
inline constexpr std::array<const char*, cost_parts> cost_part_names{
    "outside", "begin", "allocate", "open",  "seal", "plan",
    "log",     "data",  "parity",   "fence", "end"};

struct cost_reading {
  uint64_t ticks = 0, entered = 0;  // entered: how often the clock switched to this stage
};

class cost_clock {
 public:
  using reading = cost_reading;

  static inline std::atomic<bool> on{false};

  static bool mine() noexcept {
    return owner_.load(std::memory_order_relaxed) == &this_thread_block;  // NOLINT(bugprone-*)
  }

  static void start() noexcept {
    now_ = cost_part::outside;
    clocks_ = {};
    owner_.store(&this_thread_block, std::memory_order_relaxed);  // NOLINT(bugprone-*)
    since_ = tick();
    on.store(true, std::memory_order_release);
  }
  // The time of each stage since start().
  static std::array<reading, cost_parts> stop() noexcept {
    enter(cost_part::outside);
    on.store(false, std::memory_order_relaxed);
    return clocks_;
  }
  static cost_part enter(cost_part s) noexcept {
    const uint64_t t = tick();
    clocks_[static_cast<size_t>(now_)].ticks += t - since_;
    since_ = t;
    const cost_part before = now_;
    now_ = s;
    ++clocks_[static_cast<size_t>(s)].entered;
    return before;
  }
  static uint64_t tick() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

 private:
  static inline std::atomic<const void*> owner_{nullptr};  // a variable of that thread
  static inline cost_part now_ = cost_part::outside;
  static inline uint64_t since_ = 0;
  static inline std::array<reading, cost_parts> clocks_{};
};

// Switches the stage inside a scope, for a sequence of steps; cheaper than a scope for each.
inline void cost_step(cost_part s) noexcept {
  if (cost_clock::on.load(std::memory_order_acquire)) [[unlikely]] {
    if (cost_clock::mine()) cost_clock::enter(s);
  }
}

class cost_scope {
 public:
  explicit cost_scope(cost_part s) noexcept {
    if (cost_clock::on.load(std::memory_order_acquire)) [[unlikely]] {
      entered_ = cost_clock::mine();
      if (entered_) before_ = cost_clock::enter(s);
    }
  }
  ~cost_scope() {
    if (entered_) [[unlikely]]
      cost_clock::enter(before_);
  }
  cost_scope(const cost_scope&) = delete;
  cost_scope& operator=(const cost_scope&) = delete;

 private:
  cost_part before_ = cost_part::outside;
  bool entered_ = false;
};

}  // namespace scute::core::medium
