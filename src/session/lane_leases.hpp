// SPDX-License-Identifier: BSD-3-Clause
// Which thread uses which lane.
//
// A thread keeps the lane that it used last, so that starting a transaction takes no locked
// instruction: such an instruction would wait for the write-backs of the previous transaction to
// finish, which can otherwise go on while the next one opens its objects (a tenth of a small
// transaction's time). Another thread may take an idle lane away.
//
// LEASE-1 A lane's holder sets `active` and then looks whether the lane is still its own. Who takes a
//    lane away writes its own name first and then looks at `active`. Each must see the other's
//    store or its own stand, which needs a full barrier between the two steps on one side only if
//    the other side's barrier is imposed from outside: membarrier(2) does that. Without it both
//    sides use a fence.
// LEASE-2 Lanes change hands under the mutex only.
#pragma once

#include <atomic>
#include <deque>
#include <memory>

#include "base/lock.hpp"
#include "pool/lane.hpp"
#include "session/thread_state.hpp"

namespace scute::core {

class lane_leases {
 public:
  void resize(uint32_t lanes) { owners_ = std::deque<std::atomic<lease_holder*>>(lanes); }

  // A lane for the calling thread, marked active; waits while others use all of them. `hint` is
  // the lane it had last here, or -1. Throws std::bad_alloc.
  uint32_t acquire(thread_state& me, int hint);
  // This lane, marked active, unless somebody is using it. The thread must not be using another one.
  bool try_acquire(thread_state& me, uint32_t lane);
  static void release(thread_state& me) noexcept {
    me.holder->active.store(false, std::memory_order_release);
  }

 private:
  bool enter(uint32_t lane, lease_holder* holder) noexcept;
  int take(thread_state& me);

  plain_mutex mutex_;
  std::deque<std::atomic<lease_holder*>> owners_;
};

}  // namespace scute::core
