// SPDX-License-Identifier: BSD-3-Clause
// A thread's call into a view. It knows whether it interrupts another call of the same thread
// (VIEW-7).
#pragma once

#include <atomic>

#include "shield/view/flusher.hpp"

namespace scute::core::view {

// While an object lives the thread is in the view.
class view_call {
 public:
  explicit view_call(flusher& by) noexcept : by_(by), nested_(depth() != 0) { depth(depth() + 1); }
  ~view_call() {
    if (!left_) depth(depth() - 1);
  }
  view_call(const view_call&) = delete;
  view_call& operator=(const view_call&) = delete;

  bool nested() const noexcept { return nested_; }

  // Ends the call, which would return `done`. Makes the fences of handlers that have interrupted
  // it. A handler after the last look at the note finds the thread outside, and makes its fence
  // itself.
  template <typename Fence>
  bool leave(bool done, Fence&& make) noexcept {
    if (nested_) return done;
    for (;;) {
      while (by_.fence_noted_.exchange(false)) done = make() && done;
      depth(0);
      if (!by_.fence_noted_.load()) break;
      depth(1);
    }
    left_ = true;
    return done;
  }

 private:
  uint32_t depth() const noexcept { return by_.depth_.load(std::memory_order_relaxed); }
  // Handlers restore the depth, so a load and a store are enough.
  void depth(uint32_t n) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    by_.depth_.store(n, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  flusher& by_;
  const bool nested_;
  bool left_ = false;
};

// While an object lives, calls with this flusher count as interrupting another (VIEW-7): the thread
// is in another view, or on its way there.
class interruption {
 public:
  explicit interruption(flusher& by) noexcept : by_(by) { change(1); }
  ~interruption() { change(-1); }
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  void change(int n) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    by_.depth_.store(by_.depth_.load(std::memory_order_relaxed) + static_cast<uint32_t>(n),
                     std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  flusher& by_;
};

}  // namespace scute::core::view
