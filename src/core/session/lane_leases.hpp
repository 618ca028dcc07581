// SPDX-License-Identifier: BSD-3-Clause
// Which thread uses which lane.
//
// A thread keeps the lane that it used last, so that starting a transaction takes no locked
// instruction: such an instruction would wait for the write-backs of the previous transaction to
// finish, which can otherwise continue while the next one opens its objects (a tenth of a small
// transaction's time). Another thread may take an idle lane away.
//
// LEASE-1 A lane's holder sets `active` and then checks whether the lane is still its own. A taker
//    first writes its own name and then reads `active`. One of them must see the other's store, so
//    each needs a full barrier between its two steps. membarrier(2) imposes the holder's; without
//    it both sides use a fence.
// LEASE-2 Lanes change hands only under the mutex.
//
// About LEASE-1: if membarrier(2) fails later on (a program may forbid itself system calls),
// holders cannot be made to execute a barrier. Then the taker waits, between its steps, far longer
// than any processor delays a store.
#pragma once

#include <atomic>
#include <memory>

#include "base/locks/lock.hpp"
#include "core/session/thread_state.hpp"
#include "core/shared/lane.hpp"

namespace scute::core {

class lane_leases {
 public:
  void resize(uint32_t lanes) {
    owners_ = std::make_unique<std::atomic<lease_holder*>[]>(lanes);
    count_ = lanes;
  }

  // A lane for the calling thread, marked active; waits while other threads use all of them. `hint`
  // is the lane that the thread had last here, or -1. Throws std::bad_alloc.
  uint32_t acquire(thread_state& me, int hint) {
    if (hint >= 0 && me.holder != nullptr && enter(static_cast<uint32_t>(hint), me.holder))
        [[likely]]
      return static_cast<uint32_t>(hint);
    return acquire_another(me);
  }
  // Takes this lane, marked active, unless another thread is using it. The calling thread must not
  // be using another one.
  bool try_acquire(thread_state& me, uint32_t lane);
  static void release(thread_state& me) noexcept {
    me.holder->active.store(false, std::memory_order_release);
  }

 private:
  // LEASE-1: a holder's two steps.
  bool enter(uint32_t lane, lease_holder* holder) noexcept {
    holder->active.store(true, std::memory_order_relaxed);
    if (imposed_) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (owners_[lane].load(std::memory_order_relaxed) == holder) return true;
    holder->active.store(false, std::memory_order_release);
    return false;
  }
  uint32_t acquire_another(thread_state& me);
  int take(thread_state& me);
  static bool barriers_are_imposed() noexcept;

  const bool imposed_ = barriers_are_imposed();  // the holder's barrier comes from outside
  plain_mutex mutex_;
  std::unique_ptr<std::atomic<lease_holder*>[]> owners_;  // by lane
  uint32_t count_ = 0;                                    // of lanes
};

}  // namespace scute::core
