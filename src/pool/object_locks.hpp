// SPDX-License-Identifier: BSD-3-Clause
// Which objects are being committed: so that of two transactions that have opened one object
// without a lock only one at a time tests whether the object is still what it has read, and writes.
//
// An object lock is a 32-bit word that all objects share which hash to it. A lane locks the objects
// that it is about to change before it seals them, and lets go when its engine has made them
// durable.
//
// OBJLOCK-1 A commit takes all of its object locks at once, in ascending order, holding no stripe
//    that could not be taken from it (engine/logfree/column_reservation.hpp, RESERVE-1), and no
//    user's code runs meanwhile. A thread that has an object lock may wait for stripes; one that
//    has a stripe waits for no object lock. So no thread waits for ever.
// OBJLOCK-2 Engine redo writes an object piece by piece, and its log entry before that: the object
//    lock covers all of it. In engine logfree the window covers whole fragments, so objects of one
//    fragment, most of them, need no object lock; of larger ones it covers the fragments that
//    change, and the object lock keeps the object from being freed meanwhile.
// OBJLOCK-3 A reader or a scrub that finds an object damaged, in engines redo and spec, repairs it
//    under its object lock: what a commit has found out about the object, which bytes differ among
//    it, stays true until it has written them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/failure.hpp"
#include "base/waiting.hpp"

namespace scute::core::pool {

class object_locks {
 public:
  static constexpr uint32_t count = 1u << 14;

  object_locks() : words_(new std::atomic<uint32_t>[count]()) {}

  // Of the object whose payload begins at this file offset.
  static uint32_t index(uint64_t payload) noexcept {
    return static_cast<uint32_t>((payload >> 5) * 0x9e3779b97f4a7c15u >> 50);
  }
  // True if it was free at the first try.
  bool take(uint32_t i) noexcept {
    bool first = true;
    for (unsigned spins = 0; words_[i].exchange(1, std::memory_order_acquire) != 0;) {
      first = false;
      do spin_pause(spins);
      while (words_[i].load(std::memory_order_relaxed) != 0);
    }
    return first;
  }
  void release(uint32_t i) noexcept {
    SCUTE_ASSERT(words_[i].load(std::memory_order_relaxed) == 1);
    words_[i].store(0, std::memory_order_release);
  }

 private:
  std::unique_ptr<std::atomic<uint32_t>[]> words_;
};

}  // namespace scute::core::pool
