// SPDX-License-Identifier: BSD-3-Clause
// The process's one userfaultfd, and the thread that learns
// which threads wait for a page, or to store to one.
#pragma once

#include "interpose/userfault.hpp"

namespace scute::core::interpose {

// Null with errno: it cannot be had. The first call begins it, and the first one for pages the
// thread. In a critical section.
userfault* begin_faults(bool pages) noexcept;
// The thread, if it has not begun. Calls that hold pages while there are other threads come here,
// with signals held. False: it cannot be had now.
bool begin_to_look_after() noexcept;
// As it has begun, or null. Any thread; async-signal-safe.
userfault* view_faults() noexcept;
void forget_faults() noexcept;  // in a child

}  // namespace scute::core::interpose
