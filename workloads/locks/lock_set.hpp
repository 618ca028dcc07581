// SPDX-License-Identifier: BSD-3-Clause
// The locks of one transaction, taken in one order by all.
//
//   LOCKSET-1  A lock that is asked for more than once is taken once, exclusively if one of them
//              wants that.
//   LOCKSET-2  Locks are taken in the order of their addresses, so that no threads deadlock,
//       and each before anything is read.
//
// A set belongs to one thread. It is filled, locked and unlocked; clear() readies it for the next
// transaction and keeps its room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <shared_mutex>
#include <vector>

namespace scute::workloads {

class lock_set {
 public:
  lock_set() = default;
  lock_set(const lock_set&) = delete;
  lock_set& operator=(const lock_set&) = delete;

  void clear() noexcept { wanted_.clear(); }
  void add_shared(std::shared_mutex& m) { wanted_.push_back({&m, false}); }
  void add(std::shared_mutex& m) { wanted_.push_back({&m, true}); }

  void lock() {
    std::ranges::sort(wanted_, [](const entry& a, const entry& b) {
      if (a.mutex != b.mutex) return std::less<>()(a.mutex, b.mutex);
      return a.exclusive && !b.exclusive;  // LOCKSET-1: unique() keeps the first
    });
    wanted_.erase(std::unique(wanted_.begin(), wanted_.end(),
                              [](const entry& a, const entry& b) { return a.mutex == b.mutex; }),
                  wanted_.end());
    for (const entry& e : wanted_) {
      if (e.exclusive)
        e.mutex->lock();
      else
        e.mutex->lock_shared();
    }
  }
  void unlock() {
    for (const entry& e : wanted_) {
      if (e.exclusive)
        e.mutex->unlock();
      else
        e.mutex->unlock_shared();
    }
  }

 private:
  struct entry {
    std::shared_mutex* mutex;
    bool exclusive;
  };
  std::vector<entry> wanted_;
};

}  // namespace scute::workloads
