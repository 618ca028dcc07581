// SPDX-License-Identifier: BSD-3-Clause
// Distinguishes a hang from a slow exploration. A thread that spins for ever on a lock reports
// nothing by itself, and a kill from outside does not reveal what it was doing.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/locks/lock.hpp"

namespace scute::testing {
using namespace core;

class watchdog {
 public:
  // The text that a hanging process writes to stderr, before its last words
  // (testing/last_words.hpp).
  static constexpr const char* hung = "scute: hung: ";

  explicit watchdog(double seconds);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // Reports progress.
  void beat() noexcept { beats_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void watch(double seconds);

  std::atomic<uint64_t> beats_{0};
  plain_mutex mutex_;
  condition changed_;
  bool over_ SCUTE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace scute::testing
