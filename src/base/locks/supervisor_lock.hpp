// SPDX-License-Identifier: BSD-3-Clause
// The lock of a supervisor, which keeps a program's view of a file after the death of that program.
//
// SUPLOCK-1 It is taken before the program opens the pool, and kept until everything that the
//    program has left is in the file. The pool's own lock ends with the program, so between its
//    death and the end of the crash writeback this lock excludes all others.
// SUPLOCK-2 A process that opens a pool tests it before it takes the pool's lock, and again after
//    that: its holder may be about to open the pool, or to write it back. A thread that opens the
//    pool for its supervisor does not test it (for_supervisor).
// SUPLOCK-3 It is a byte after all that the pool's lock covers, of an open file of its own
//    (LOCK-1). A version of Scute that does not know it locks that byte as well, so it finds the
//    pool busy.
// SUPLOCK-4 The process that makes FILE.scute has it as well, until it has examined FILE again
//    (MAKE-5). It takes it when FILE.scute exists: if a program was faster, FILE.scute stays.
//
// On SUPLOCK-1: a process that opened the pool in between would read, and overwrite, a file that
// lacks the program's last bytes; and the writeback would overwrite that process's bytes.
#pragma once

#include <cstdint>
#include <string>

#include "base/locks/kept_lock.hpp"

#include "base/process/thread_block.hpp"

namespace scute::core {

// The bytes from the beginning of a file that locks of its content cover.
inline constexpr int64_t locked_bytes = int64_t{1} << 62;

class supervisor_lock {
 public:
  // Locks FILE.scute. Returns 0, or an errno; EBUSY: another opening has the lock.
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
