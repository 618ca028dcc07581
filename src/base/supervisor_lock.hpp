// SPDX-License-Identifier: BSD-3-Clause
// The lock of a supervisor, which keeps a program's view of a file over the death of that program.
//
// SUPLOCK-1 It is taken before the program opens the pool, and kept until all that the program has
//    left is in the file. The pool's own lock goes with the program, so between its death and the
//    crash writeback this one keeps all others out: a process that opened the pool then would read,
//    and write over, bytes that are not there yet, and the writeback would write over its own.
// SUPLOCK-2 A process that opens a pool looks at it before it takes the pool's lock, and a second
//    time after that: its holder may be about to open the pool, or to write it back. A thread that
//    opens the pool for its supervisor does not look (for_supervisor).
// SUPLOCK-3 It is a byte past all that the pool's lock covers, of an open file of its own (LOCK-1).
//    A version of Scute that does not know it locks that byte as well, so it finds the pool busy.
// SUPLOCK-4 The process that makes FILE.scute has it as well, until it has looked at FILE again
//    (MAKE-5).
//    It is taken when FILE.scute is there: if a program was faster, FILE.scute stays.
#pragma once

#include <cstdint>
#include <string>

#include "base/kept_lock.hpp"

#include "base/thread_block.hpp"

namespace scute::core {

// Bytes of a file that locks of its content cover, from the beginning.
inline constexpr int64_t locked_bytes = int64_t{1} << 62;

class supervisor_lock {
 public:
  // Of FILE.scute. 0, or an errno; EBUSY: another opening has it.
  int take(const std::string& sidecar) noexcept;
  bool is_taken() const noexcept { return lock_.is_taken(); }

 private:
  kept_lock lock_;
};

// Whether an open file has it.
bool is_held_by_supervisor(int fd) noexcept;

// While one lives the calling thread opens pools for their supervisor.
class for_supervisor {
 public:
  for_supervisor() noexcept { ++own_thread_block().for_supervisor; }
  ~for_supervisor() { --own_thread_block().for_supervisor; }
  for_supervisor(const for_supervisor&) = delete;
  for_supervisor& operator=(const for_supervisor&) = delete;
  static bool here() noexcept {
    return this_thread_block != nullptr && this_thread_block->for_supervisor != 0;
  }
};

}  // namespace scute::core
