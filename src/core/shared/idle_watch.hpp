// SPDX-License-Identifier: BSD-3-Clause
// Connects threads that leave work for an idle moment (a deferred window) with the thread that does
// it (core/session/idle_drain.hpp). The latter checks at intervals while there is work. While there
// is none it sleeps without a timer.
//
// IDLE-1 The thread sleeps only after a check that found nothing and that began a whole pause after
//    it had announced to doze. A thread that defers work first stores that fact and then tests for
//    the announcement. Either the check finds the work, or the test finds the announcement and
//    wakes the thread.
//
// No fence is needed for IDLE-1: without one a store may become visible after the test, by the
// delay of a store buffer; the pause is a hundred thousand times as long.
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

  // For the thread that does the work.
  void announce() noexcept { exchange(awake, dozes); }
  void stay_awake() noexcept { exchange(dozes, awake); }
  void sleep() const noexcept { state_.wait(dozes); }
  // For the code that ends that thread. From then on no thread dozes.
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
