// SPDX-License-Identifier: BSD-3-Clause
#include "shield/view/flush_list.hpp"

#include "base/held_point.hpp"
#include "base/locks/waiting.hpp"

namespace scute::core::view {

bool flush_list::put(uint64_t line, uint32_t entries, uint64_t& position) noexcept {
  uint64_t p = end_hint_.load(std::memory_order_relaxed);
  for (;;) {
    if (p - taken_.load(std::memory_order_acquire) >= entries) {
      // Unless the hint is a whole ring too old, as other threads have put entries since.
      if (p >= taken_.load(std::memory_order_acquire)) return false;
      p = taken_.load(std::memory_order_acquire);
      continue;
    }
    held_point();  // other threads put and take a whole ring here
    std::atomic<uint64_t>& place = ring()[p & (entries - 1)];
    uint64_t was = place.load(std::memory_order_acquire);
    if (is_at(was, p)) {
      ++p;
      continue;
    }
    if (was != 0 && (p < entries || !is_at(was, p - entries))) {
      p = taken_.load(std::memory_order_acquire);
      continue;
    }
    switch_point();
    if (place.compare_exchange_strong(was, word_of(line, p))) break;
  }
  position = p;
  end_hint_.store(p + 1, std::memory_order_relaxed);
  return true;
}

}  // namespace scute::core::view
