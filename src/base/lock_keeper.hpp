// SPDX-License-Identifier: BSD-3-Clause
// The thread that has the locks of this process: on pools, their logs, stores, and FILE.scute.
//
// LOCK-1 A lock belongs to an open file (F_OFD_SETLK) that no descriptor of the program's leads to.
//    A thread of the library's, which has a table of descriptors of its own, opens the file a
//    second time, locks and unlocks it. So nothing that the program closes ends a lock; no child
//    has the open file, whether it was made by fork(), vfork(), posix_spawn() or a system call, and
//    so none keeps it locked; and the process's end ends it. (A mapping instead of a descriptor
//    does not do: overlayfs and others map a file that lies below theirs, and the lock goes with
//    the descriptor.)
// LOCK-2 Each lock is tried: the file is opened again, and that open file must be refused.
//    A file system that lets two have it keeps no locks, and its files are refused
//    (SCUTE_E_UNSUPPORTED).
// LOCK-3 Where there is no such thread (no thread is to be had, or a filter of system calls keeps
//    it in the program's table), or it cannot open the file (no /proc; permissions that let no
//    process open it twice), the lock is that of the open file which the library has anyway, by a
//    registered descriptor (PROC-3), and LOCK-2 holds as far as the file can be opened. It is
//    unlocked, not only closed: a child that has the descriptor until it runs another program does
//    not keep it. Then, and only then, a program that closes all descriptors ends its locks.
// LOCK-4 The thread lives from the first lock to the end of the last one. It takes no signals but
//    those of SIG-2, allocates nothing, and waits for nothing but requests, one at a time. A thread
//    that asks holds its mutex and no other of the library's; fork() does not wait for it.
// LOCK-5 A child of fork() has neither the thread nor the locks. A lock knows its process and does
//    nothing in another one; the first lock that a child takes makes a thread of the child's.
//
// Locks that are held for moments only are not here: guard_lock (base/open_guarded.hpp), which is
// taken inside of the program's open(), and the questions of require_unused()
// (medium/user_file.hpp). Both unlock before they close.
#pragma once

#include <sys/types.h>

#include "base/lock_request.hpp"

namespace scute::core {

struct kept_place {
  // 0: it is locked; EBUSY: another opening has it; ENOLCK: nothing is locked there; or another
  // errno
  int error = 0;
  bool way = false;  // false: the thread cannot do it (LOCK-3)
  int number = -1;   // the thread's descriptor
};

// fd: of the calling thread.
kept_place lock_by_keeper(int fd, const lock_request& wanted) noexcept;
void unlock_by_keeper(int number, const lock_request& wanted) noexcept;

// Whether this process has the thread now, for tests.
bool keeper_is_there() noexcept;

}  // namespace scute::core
