// SPDX-License-Identifier: BSD-3-Clause
// The object locks that a commit holds (core/shared/object_locks.hpp, OBJLOCK-1), as long as this
// lives.
#pragma once

#include <algorithm>

#include "core/shared/state.hpp"

namespace scute::core::tx {

class object_lock_guard {
 public:
  object_lock_guard(pool::state& s, pool::lane& l) noexcept : s_(s), l_(l) {
    l_.object_locks.clear();
  }
  ~object_lock_guard() {
    for (size_t i = 0; i < held_; ++i) s_.locked_objects.release(l_.object_locks[i]);
    l_.object_locks.clear();
  }
  object_lock_guard(const object_lock_guard&) = delete;
  object_lock_guard& operator=(const object_lock_guard&) = delete;

  void add(uint64_t payload) { l_.object_locks.push_back(pool::object_locks::index(payload)); }
  // Takes all that were added, each once.
  void take() noexcept {
    auto& all = l_.object_locks;
    if (all.size() > 1) {
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    for (; held_ < all.size(); ++held_)
      if (!s_.locked_objects.take(all[held_])) l_.w.count.lock_waits.add(1);
  }

 private:
  pool::state& s_;
  pool::lane& l_;
  size_t held_ = 0;
};

// The object lock of one object, for a thread that repairs it in engine redo: bytes that look
// damaged may be those of a running commit. Takes nothing if the lane has the lock already, or in
// engine logfree, where the columns show it.
class repair_lock {
 public:
  repair_lock(pool::state& s, const pool::lane* l, uint64_t payload) noexcept
      : s_(s), i_(pool::object_locks::index(payload)) {
    if (s.parity_is_log) return;
    if (l != nullptr &&
        std::find(l->object_locks.begin(), l->object_locks.end(), i_) != l->object_locks.end())
      return;
    s_.locked_objects.take(i_);
    taken_ = true;
  }
  ~repair_lock() {
    if (taken_) s_.locked_objects.release(i_);
  }
  repair_lock(const repair_lock&) = delete;
  repair_lock& operator=(const repair_lock&) = delete;

 private:
  pool::state& s_;
  const uint32_t i_;
  bool taken_ = false;
};

}  // namespace scute::core::tx
