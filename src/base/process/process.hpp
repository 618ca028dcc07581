// SPDX-License-Identifier: BSD-3-Clause
// Identifies this process. A child of fork() has a copy of every handle of its parent, and must
// reach no pool through any of them: two processes that believe they own one pool would overwrite
// each other's logs.
//
// PROC-1 A pool belongs to the process that opened it. Every process has a number that none of its
//    ancestors had. An open pool stores the number of its process, and every use of a handle
//    compares it.
// PROC-2 A child has no mapping of a pool (MADV_DONTFORK). Whatever it does, it cannot change the
//    file, and a fault at such an address is a fault like any other.
// PROC-3 No child keeps a pool locked. The locked open file is one of a thread of the library,
//    whose descriptors no child has (LOCK-1 in base/locks/lock_thread.hpp). Bytes are mapped, read
//    and written back through another open file, without a lock, whose descriptor the fork handler
//    closes in children.
// PROC-4 Tables of the whole process are changed under one mutex, which fork() takes: a child finds
//    them whole, and the mutex free. A pool file is opened, registered (PROC-3), mapped and
//    withheld (PROC-2) under it as well, so fork() never comes in between.
// PROC-5 A child that was not made by fork() may find the mutex taken by a thread that it does not
//    have, and the tables half changed. The mutex knows the process of its holder, so a holder of
//    another process does not count. Every process resets its tables, whatever it finds there.
// PROC-6 The C library removes the fork handlers of a library that it finalizes, even if a fork has
//    run the first of them and not the second. So the library's end waits for such a fork, and
//    later forks do not take the mutex. PROC-5 and the page of PROC-1 are for their children.
//
// On PROC-1: the number lies in a page that the kernel wipes in a child (MADV_WIPEONFORK). So a
// child that was not made by fork(), and ran no fork handlers, is recognized as well. If the kernel
// is too old for that, the fork handler wipes the page.
//
// On PROC-3: a lock belongs to an open file, and ends with its last descriptor. A fork handler that
// closes a descriptor in the child comes too late if the parent is killed before the child runs. In
// children of posix_spawn() and vfork() no handler runs.
//
// On PROC-5: the tables of the system's own libraries are their own concern. A child of a raw
// system call may meet an allocator that is locked for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/locks/lock.hpp"  // for users of process_tables()
#include "base/process/which_file.hpp"

namespace scute::core {

struct alignas(4096) process_page {
  std::atomic<uint64_t> number{0};  // 0: not assigned in this process yet
};
extern process_page this_process_page;

uint64_t begin_process() noexcept;

// PROC-1. Async-signal-safe, except for the first call in a process without an ancestor that called
// it.
inline uint64_t this_process() noexcept {
  const uint64_t number = this_process_page.number.load(std::memory_order_relaxed);
  return number != 0 ? number : begin_process();
}

// PROC-5. For locked (base/locks/lock.hpp). Its owner resets the guarded data in every process.
class SCUTE_CAPABILITY("mutex") process_mutex {
 public:
  void lock() noexcept SCUTE_ACQUIRE();
  void unlock() noexcept SCUTE_RELEASE();

 private:
  std::atomic<uint64_t> holder_{0};  // number of the process whose thread has it; 0: none
};

// PROC-4. Must not be held during a call that could fork, wait for a lock, or run the program's
// code.
process_mutex& process_tables() noexcept;

// open(2), dup(2) and close(2) of a pool file (PROC-3, PROC-4); -1 with errno. Throws
// failure(SCUTE_E_UNSUPPORTED) if there are too many. Never returns one of the descriptors 0 to 2:
// in a program without one of these, output to the standard streams would go to a pool, and input
// would come from it.
int open_registered(const char* path, int flags, unsigned mode = 0);
int duplicate_registered(int fd);
// of: the file of the descriptor when it was registered. The number is closed only if it still
// refers to that file (NUMBER-2 in base/process/kept_number.hpp).
void close_registered(int fd, const which_file& of) noexcept;
// PROC-2. Throws failure(SCUTE_E_IO).
void withhold_from_children(void* at, uint64_t n);

}  // namespace scute::core
