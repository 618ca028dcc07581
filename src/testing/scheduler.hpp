// SPDX-License-Identifier: BSD-3-Clause
// Runs threads one at a time, in an order chosen beforehand: the same schedule always gives the
// same interleaving.
//
// A thread gives up its turn at an operation on the medium if the schedule says so, and whenever it
// would have to wait for another thread (base/locks/waiting.hpp). In a build with planted bugs it
// may also do so where it reads without a lock what another thread may store (switch_point()).
// Between two such points it runs alone, so the explorer does not find races on volatile memory
// (ThreadSanitizer does).
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/locks/lock.hpp"

namespace scute::testing {
using namespace core;

// The thread `to` continues at this operation, counted over all threads from 0, or at the fence of
// this number.
struct preemption {
  uint64_t operation;
  unsigned to;
  bool fence = false;  // only fences are counted
};

struct schedule {
  unsigned first = 0;
  std::vector<preemption> preemptions;

  std::string text() const;
};

class scheduler {
 public:
  // Runs the bodies in threads of their own until all have returned. Throws the first exception of
  // a body. If all wait for each other, the process says so and aborts: nothing can release their
  // locks.
  void run(const std::vector<std::function<void()>>& bodies, const schedule& s,
           const std::function<void(unsigned)>& turn_given);

  // The running thread calls operation() at each operation, and wait() instead of waiting. Switch
  // points count as fences: protocols change their state there too.
  void operation(bool fence = false);
  void wait();
  uint64_t operations() const noexcept { return operations_; }
  uint64_t fences() const noexcept { return fences_; }

  // While held, the running thread keeps its turn.
  void hold() noexcept { ++held_; }
  void release() noexcept { --held_; }

 private:
  void give(unsigned to) SCUTE_EXCLUDES(mutex_);
  unsigned next_after(unsigned thread) const noexcept;

  plain_mutex mutex_;
  condition changed_;
  unsigned running_ SCUTE_GUARDED_BY(mutex_) = 0;
  // The members below belong to the running thread.
  std::vector<bool> done_;
  const schedule* schedule_ = nullptr;
  uint64_t operations_ = 0, fences_ = 0;
  uint64_t waits_ = 0;  // in a row, without an operation
  int held_ = 0;
  std::exception_ptr thrown_;
  std::function<void(unsigned)> turn_given_;
};

}  // namespace scute::testing
