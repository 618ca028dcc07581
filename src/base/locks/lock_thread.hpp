// SPDX-License-Identifier: BSD-3-Clause
// The thread that holds the locks of this process: on pools, their logs, stores, and FILE.scute.
//
// LOCK-1 A lock belongs to an open file (F_OFD_SETLK, or flock()) to which no descriptor of the
//    program refers. A thread of the library, which has a descriptor table of its own, opens the
//    file a second time, locks and unlocks it. So nothing that the program closes ends a lock, no
//    child keeps the file locked, and the process's end unlocks it.
// LOCK-2 Each lock is tested: the file is opened again, and a lock of that open file must be
//    refused. A file system that grants both keeps no locks of that kind. If it keeps those of no
//    kind, its files are refused (SCUTE_E_UNSUPPORTED).
// LOCK-3 If that thread cannot be made or cannot open the file (below), the lock is on the open
//    file which the library has anyway, by a registered descriptor (PROC-3). LOCK-2 holds as far as
//    the file can be opened.
// LOCK-4 The thread lives from the first lock to the end of the last one. It takes no signals
//    except those of SIG-2, allocates nothing, and waits only for requests, one at a time. A thread
//    that asks holds its mutex and no other lock of the library; fork() does not wait for it.
// LOCK-5 A child of fork() has neither the thread nor the locks. A lock knows its process and does
//    nothing in another one. The first lock that a child takes makes a thread in the child.
// LOCK-6 The kind of lock follows from the file system alone, so all processes choose the same one:
//    bytes (F_OFD_SETLK) if a second open file is refused by them, else the whole file (flock()).
//    A refusal by another process's lock shows that it keeps bytes. Errors that may pass choose
//    no kind.
//
// On LOCK-1: no child has the open file, whether it was made by fork(), vfork(), posix_spawn() or a
// system call. A mapping instead of a descriptor would not do: overlayfs and others map a file of a
// lower layer, and the lock goes with the descriptor. On LOCK-3: perhaps no thread is available, or
// a filter of system calls keeps it in the program's table. The file cannot be opened without
// /proc, or if its permissions let no process open it twice. Such a lock is unlocked, not only
// closed. So a child that has the descriptor until it runs another program does not keep it. Only
// in this case does a program that closes all descriptors end its locks.
//
// Locks that are held for moments only are not here: guard_lock (base/process/open_guarded.hpp),
// which is taken inside of the program's open(), and the tests of require_unused()
// (core/medium/user_file.hpp). Both unlock before they close.
#pragma once

#include <sys/types.h>

#include "base/locks/lock_request.hpp"

namespace scute::core {

struct kept_place {
  // 0: locked; EBUSY: another opening has the lock; ENOLCK: the file system keeps no locks; or
  // another errno
  int error = 0;
  bool way = false;  // false: the thread cannot do it (LOCK-3)
  int number = -1;   // the thread's descriptor
};

// fd: of the calling thread.
kept_place lock_by_thread(int fd, const lock_request& wanted) noexcept;
void unlock_by_thread(int number, const lock_request& wanted) noexcept;

// Whether this process has the thread now; for tests.
bool lock_thread_exists() noexcept;

}  // namespace scute::core
