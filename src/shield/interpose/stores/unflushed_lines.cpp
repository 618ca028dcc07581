// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/unflushed_lines.hpp"

namespace scute::core::interpose {

void unflushed_lines::mask(uint64_t offset, uint64_t n) noexcept {
  for (uint64_t number = offset / line; number * line < offset + n; ++number) {
    for (size_t i = 0; i < tries; ++i) {
      std::atomic<uint64_t>& place = masks_[(place_of(number) + i) % places];
      uint64_t seen = place.load(std::memory_order_relaxed);
      if (seen == 0 && place.compare_exchange_strong(seen, number + 1, std::memory_order_relaxed))
        break;
      if (seen == number + 1) break;
    }
  }
}

bool unflushed_lines::is_masked(uint64_t number) const noexcept {
  for (size_t i = 0; i < tries; ++i) {
    const uint64_t seen = masks_[(place_of(number) + i) % places].load(std::memory_order_relaxed);
    if (seen == number + 1) return true;
    if (seen == 0) return false;
  }
  return false;
}

void unflushed_lines::reset() noexcept {
  for (auto& place : masks_) place.store(0, std::memory_order_relaxed);
}

}  // namespace scute::core::interpose
