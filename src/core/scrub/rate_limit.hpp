// SPDX-License-Identifier: BSD-3-Clause
// A token bucket that several threads draw from: a limit of bytes per second for all together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/locks/lock.hpp"

namespace scute::core::scrub {

class rate_limit {
 public:
  // The amount that may be drawn at once after a pause, in nanoseconds of the rate.
  static constexpr uint64_t burst_ns = 50'000'000;

  explicit rate_limit(uint64_t bytes_per_second) : rate_(bytes_per_second) {}

  // Draws `bytes` at time now_ns; returns how long to wait before using them. 0 rate: no limit.
  uint64_t draw(uint64_t bytes, uint64_t now_ns) noexcept {
    if (rate_ == 0) return 0;
    const locked hold(mutex_);
    const auto now = static_cast<double>(now_ns);
    paid_until_ = std::max(paid_until_, now - static_cast<double>(burst_ns));
    paid_until_ += static_cast<double>(bytes) * 1e9 / static_cast<double>(rate_);
    return paid_until_ > now ? static_cast<uint64_t>(paid_until_ - now) : 0;
  }

 private:
  const uint64_t rate_;
  plain_mutex mutex_;
  // Everything drawn so far is paid for at this time.
  double paid_until_ SCUTE_GUARDED_BY(mutex_) = 0;
};

}  // namespace scute::core::scrub
