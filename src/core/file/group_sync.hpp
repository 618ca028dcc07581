// SPDX-License-Identifier: BSD-3-Clause
// One sync at a time for all threads that need one (group commit). A system call that makes a file
// durable takes as long for the bytes of eight threads as for those of one, and calls at the same
// time only get in each other's way.
//
// The first thread that finds no sync under way leads one; those that come meanwhile wait, and one
// of them leads the next for all of them. Syncs are numbered as they begin.
//
// SYNC-1 A thread returns when a sync has ended that began after the thread arrived: it covers what
//    the thread had stored before. A sync already under way does not count, since it may have
//    passed these pages.
// SYNC-2 Never two syncs run at a time; and while a thread waits, another one leads or is about to.
//    The leader of a sync wakes all threads at its end, and the first one not yet served leads.
// SYNC-3 A leader that expects company lingers: as many threads as took part in the last two syncs
//    are likely to come. It lingers at most a fraction of the last sync's duration, which missing
//    this sync would cost them; and not at all if the last syncs had one thread each.
// SYNC-4 The sync itself reports an error before it counts as ended: every thread that returns can
//        see it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/locks/spin_lock.hpp"

namespace scute::core::medium {

class group_sync {
 public:
  // Calls lead(arg, alone) in this thread, or waits for another one's call. alone: only what this
  // thread has stored need become durable.
  void join(void (*lead)(void* arg, bool alone), void* arg) noexcept;

  // Syncs that have begun, for tests and counters.
  uint32_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  // Threads that wait for the next one to begin, its leader included.
  uint32_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

 private:
  void linger(uint32_t company, uint64_t last_ns) const noexcept;

  // Held for a few instructions, and never by a thread that touches the mapping,
  // so that a handler of a fault may come here as well.
  spin_lock lock_;
  bool under_way_ SCUTE_GUARDED_BY(lock_) = false;
  uint32_t last_size_ SCUTE_GUARDED_BY(lock_) = 1;  // threads served by the last sync
  uint64_t last_ns_ SCUTE_GUARDED_BY(lock_) = 0;    // its duration
  // Changed with the lock.
  std::atomic<uint32_t> begun_{0}, ended_{0}, waiting_{0};
};

}  // namespace scute::core::medium
