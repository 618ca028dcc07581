// SPDX-License-Identifier: BSD-3-Clause
// How an image of a program has ended: its connection is closed, so it is gone, or is about to be.
//
// END-1 A process that is on its way out counts as ended, and is waited for; one that lives on has
//       begun another image (exec).
// END-2 A status is looked at and left for whoever waits for the process. Where nobody can tell it
//    (a grandchild, on a kernel before 6.15), the image counts as killed from outside.
#pragma once

#include <sys/types.h>

namespace scute::core::supervisor {

struct image_end {
  int signal = 0;         // 0: an exit or an exec
  bool replaced = false;  // by exec
};

// pidfd may be -1: the kernel has none, or the process was gone before.
image_end how_it_ended(pid_t pid, int pidfd);

// A signal that the program's own doing raises, after which its unflushed stores are not to be
// trusted.
bool is_fault(int signal) noexcept;

}  // namespace scute::core::supervisor
