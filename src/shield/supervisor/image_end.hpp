// SPDX-License-Identifier: BSD-3-Clause
// How an image of a program has ended. Its connection is closed, so it has ended, or is about to.
//
// END-1 A process that is exiting counts as ended, and is waited for. One that lives on has begun
//    another image (exec).
// END-2 A status is read but left for the process that will wait for it. If the status cannot be
//    read (a grandchild, on a kernel before 6.15), the image counts as killed from outside.
#pragma once

#include <sys/types.h>

namespace scute::core::supervisor {

struct image_end {
  int signal = 0;         // 0: an exit or an exec
  bool replaced = false;  // by exec
};

// pidfd may be -1: the kernel has none, or the process had ended before.
image_end how_it_ended(pid_t pid, int pidfd);

// Whether the program's own errors raise this signal; its unflushed stores are not trusted then.
bool is_fault(int signal) noexcept;

}  // namespace scute::core::supervisor
