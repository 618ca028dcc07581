// SPDX-License-Identifier: BSD-3-Clause
// Between threads that leave work for an idle moment (a
// deferred window) and the thread that does it (session/idle_drain.hpp). That one looks every so
// often while there is work, and sleeps permanently, without a timer, while there is none.
//
// IDLE-1 It sleeps only after a look that found nothing and that began a whole pause after it had
//    announced to doze. A thread that defers work first stores that and then tests for the
//    announcement. Either the look finds it, or the announcement was there, and it wakes the
//    thread. Without a fence a store may come to light after the test, by the time that a store
//    buffer takes; the pause is a hundred thousand times as long.
#pragma once

#include <atomic>
#include <cstdint>

namespace scute::core::pool {

class idle_watch {
 public:
  // To be called after something was deferred. Costs a load, except for the first time after a
  // doze.
  void deferred() noexcept {
    if (state_.load(std::memory_order_relaxed) == dozes) [[unlikely]]
      wake();
  }
  bool dozing() const noexcept { return state_.load(std::memory_order_relaxed) == dozes; }

  // For the thread.
  void announce() noexcept { exchange(awake, dozes); }
  void stay_awake() noexcept { exchange(dozes, awake); }
  void sleep() const noexcept { state_.wait(dozes); }
  // For the code that ends it. From then on no thread dozes.
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
