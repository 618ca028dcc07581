// SPDX-License-Identifier: BSD-3-Clause
// Locks of objects that are being committed. If two transactions have opened one object without a
// lock, only one at a time tests whether the object is unchanged since it was read, and writes it.
//
// An object lock is a 32-bit word shared by all objects that hash to it. A lane locks the objects
// that it will change before it seals them, and unlocks them when its engine has made them durable.
//
// OBJLOCK-1 A commit takes all of its object locks at once, in ascending order. It then holds no
//    stripe that could not be taken from it (RESERVE-1), and no user code runs. A thread with an
//    object lock may wait for stripes; a thread with a stripe waits for no object lock.
// OBJLOCK-2 Engine redo writes its log entry and then the object, piece by piece, all under the
//    object lock. In engine logfree the window covers whole fragments: objects of one fragment,
//    which are most, need no object lock. For larger ones the object lock keeps the object from
//    being freed meanwhile.
// OBJLOCK-3 In engines redo and spec, a reader or a scrub that finds an object damaged repairs it
//    under its object lock. So what a commit has found out about the object, such as its changed
//    bytes, stays true until the commit has written them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/failure.hpp"
#include "base/locks/waiting.hpp"

namespace scute::core::pool {

class object_locks {
 public:
  static constexpr uint32_t count = 1u << 14;

  object_locks() : words_(new std::atomic<uint32_t>[count]()) {}

  // The lock of the object whose payload begins at this file offset.
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
