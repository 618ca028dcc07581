// SPDX-License-Identifier: BSD-3-Clause
#include "testing/watchdog.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace scute::testing {

watchdog::watchdog(double seconds) : thread_([this, seconds] { watch(seconds); }) {}

watchdog::~watchdog() {
  {
    const locked hold(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void watchdog::watch(double seconds) {
  using clock = std::chrono::steady_clock;
  const auto patience = std::chrono::duration<double>(seconds);
  const locked hold(mutex_);
  uint64_t seen = 0;
  for (auto since = clock::now();;) {
    if (!over_) changed_.wait_for(mutex_, patience / 8);
    if (over_) return;
    const uint64_t now = beats_.load(std::memory_order_relaxed);
    if (now != seen) {
      seen = now;
      since = clock::now();
    }
    if (clock::now() - since < patience) continue;
    std::fprintf(stderr, "\n%snothing was finished for %.0f seconds\n", hung, seconds);
    std::abort();
  }
}

}  // namespace scute::testing
