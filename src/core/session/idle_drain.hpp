// SPDX-License-Identifier: BSD-3-Clause
// Makes the parity durable that lanes have deferred (core/engine/logfree/window.hpp, WIN-2), once
// their threads have been idle for 20 to 40 ms. Transactions are durable without it. But while a
// column is open, a crash together with damage in that column could lose what the transaction
// wrote. While nothing is deferred the thread sleeps, and the next transaction wakes it
// (core/shared/idle_watch.hpp).
#pragma once

#include <thread>

#include "base/locks/lock.hpp"

namespace scute::core {

class instance;

class idle_drain {
 public:
  explicit idle_drain(instance& in) : in_(in) {}
  ~idle_drain() { stop(); }
  idle_drain(const idle_drain&) = delete;
  idle_drain& operator=(const idle_drain&) = delete;

  // If no thread can be created, the program's threads drain the lanes whose columns they need, and
  // closing drains all.
  void start();
  void stop() noexcept;

 private:
  void run() noexcept;

  instance& in_;
  plain_mutex mutex_;
  condition wake_;
  bool stop_ SCUTE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace scute::core
