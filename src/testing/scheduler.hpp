// SPDX-License-Identifier: BSD-3-Clause
// Threads that run one at a time, in an order that is chosen beforehand: the same schedule gives
// the same interleaving every time.
//
// A thread gives up its turn at its operations on the medium, where the schedule says so, and
// whenever it would have to wait for another one (base/waiting.hpp); in a build with planted bugs
// also where one thread reads without a lock what another one may store to (switch_point()).
// Between two such points it runs alone, so races on volatile memory are not what this finds
// (ThreadSanitizer does).
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/lock.hpp"

namespace scute::testing {
using namespace core;

// At the operation-th operation of all threads together (from 0), or at the fence of that number,
// `to` continues.
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
  // Runs the bodies in threads of their own until all have returned. Throws what a body threw
  // first. When all of them wait for each other the process says so and aborts: nothing can get
  // them out of their locks.
  void run(const std::vector<std::function<void()>>& bodies, const schedule& s,
           const std::function<void(unsigned)>& turn_given);

  // To be called by the running thread: at each operation, and instead of waiting. Switch points
  // count as fences: there, too, protocols go from one state to the next.
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
  // Later operations are the running thread's.
  std::vector<bool> done_;
  const schedule* schedule_ = nullptr;
  uint64_t operations_ = 0, fences_ = 0;
  uint64_t waits_ = 0;  // in a row, without an operation
  int held_ = 0;
  std::exception_ptr thrown_;
  std::function<void(unsigned)> turn_given_;
};

}  // namespace scute::testing
