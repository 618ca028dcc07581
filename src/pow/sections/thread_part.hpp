// SPDX-License-Identifier: BSD-3-Clause
// The state of persist-on-write stores per thread.
#pragma once

#include <cstdint>

#include "base/process/thread_block.hpp"

namespace scute::core::pow {

class section;

struct thread_part {
  section* newest;       // the newest that this thread has begun; rarely more than one is open
  uint64_t number;       // of the thread; 0: none yet
  uint32_t last_slot;    // 0: none yet
  uint32_t wanted_slot;  // for tests (prefer_slot); 0: any
};

inline thread_part& part_of_this_thread() noexcept {
  return part_of_thread<thread_part>(own_thread_block().pow);
}
// For code in which the thread already has a slot.
inline thread_part& part_of_slot_owner() noexcept {
  return part_of_thread<thread_part>(present_thread_block().pow);
}

}  // namespace scute::core::pow
