// SPDX-License-Identifier: BSD-3-Clause
// Between those who leave something for an idle moment (a deferred window) and the thread that
// looks after it (session/idle_drain.hpp): it looks every so often while there is something, and
// sleeps for good, without a timer, when there is not.
//
// IDLE-1 It sleeps only after a look that found nothing and that began a whole pause after it had
//    announced to doze. Who defers something first stores that and then tests for the announcement:
//    either the look finds it, or the announcement was there, and he wakes the thread. Without a
//    fence a store may come to light after the test, by the time that a store buffer takes; the
//    pause is a hundred thousand times as long.
#pragma once

#include <atomic>
#include <cstdint>

namespace scute::core::pool {

class idle_watch {
 public:
  // To be called after something was deferred. Costs a load, but for the first time after a doze.
  void deferred() noexcept {
    if (state_.load(std::memory_order_relaxed) == dozes) [[unlikely]]
      wake();
  }
  bool dozing() const noexcept { return state_.load(std::memory_order_relaxed) == dozes; }

  // For the thread.
  void announce() noexcept { exchange(awake, dozes); }
  void stay_awake() noexcept { exchange(dozes, awake); }
  void sleep() const noexcept { state_.wait(dozes); }
  // For whoever ends it. From then on nobody dozes.
  void stop() noexcept {
    state_.store(stopped);
    state_.notify_all();
  }

 private:
  static constexpr uint32_t awake = 0, dozes = 1, stopped = 2;

  bool exchange(uint32_t from, uint32_t to) noexcept {
    return state_.compare_exchange_strong(from, to);
  }
  [[gnu::cold, gnu::noinline]] void wake() noexcept {
    if (exchange(dozes, awake)) state_.notify_all();
  }

  std::atomic<uint32_t> state_{awake};
};

}  // namespace scute::core::pool
