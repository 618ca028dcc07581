// SPDX-License-Identifier: BSD-3-Clause
// Pages of a long-lived log that could not be read, and are readable again. The handler of the
// fault made zeros of them, and passes them to the engine, which knows their contents
// (core/engine/speculative/log_scrubber.hpp).
//
// LOSTLOG-1 A page is noted after it is readable again, and removed before it is examined. So a
//    page that is lost a second time is examined a second time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace scute::core::pool {

class lost_log_pages {
 public:
  // There is such a log; state::overlaid has its chunks as lent.
  void keep() noexcept { kept_.store(true, std::memory_order_release); }
  bool kept() const noexcept { return kept_.load(std::memory_order_acquire); }

  // Async-signal-safe.
  void add(uint64_t page) noexcept {
    bool noted = false;
    for (auto& p : pages_) {
      uint64_t none = 0;
      noted = p.compare_exchange_strong(none, page) || none == page;
      if (noted) break;
    }
    if (!noted) too_many_.store(true);
    pending_.store(true);
  }
  bool pending() const noexcept { return pending_.load(std::memory_order_relaxed); }

  // Removes each page and calls fn(page) for it. Returns false if there were more than could be
  // noted: then any page may be one.
  template <typename Fn>
  bool take(Fn&& fn) {
    pending_.store(false);
    const bool all = !too_many_.exchange(false);
    for (auto& p : pages_)
      if (const uint64_t page = p.exchange(0); page != 0) fn(page);
    return all;
  }

 private:
  std::atomic<bool> kept_{false}, pending_{false}, too_many_{false};
  std::array<std::atomic<uint64_t>, 64> pages_{};  // file offsets; 0: none, which is a superblock's
};

}  // namespace scute::core::pool
