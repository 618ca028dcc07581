// SPDX-License-Identifier: BSD-3-Clause
// Where the time of a transaction goes: a clock per stage, for benchmarks (CodePM's Figure 11).
// Off, a scope is the test of one byte that never changes; so it stands around steps of a
// transaction, not in loops. On, it reads the time-stamp counter twice, which the bench measures
// and takes off.
//
// A scope inside another one takes its time away from it. One thread is timed at a time, the one
// that called start(): scopes of others, as of the thread that drains idle lanes, do nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/thread_block.hpp"

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace scute::core::medium {

enum class cost_part : uint8_t {
  outside,   // the program, and what no scope is around
  begin,     // a lane, a new transaction number
  allocate,  // slots reserved; their headers written when a chunk is new
  open,      // objects verified and copied to micro-buffers
  seal,      // guard bytes, what has changed, checksums
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
  uint64_t ticks = 0, entered = 0;  // entered: how often the clock went over to this stage
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

// For a row of steps inside a scope, which takes up what they leave: less than scopes of their own.
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
