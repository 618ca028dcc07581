// SPDX-License-Identifier: BSD-3-Clause
// The process's only userfaultfd, and the thread that learns which threads wait for a page, or to
// store to one.
#pragma once

#include "shield/interpose/memory/userfault.hpp"

namespace scute::core::interpose {

// Null with errno: it cannot be had. The first call creates it; the first one for pages starts the
// thread. In a critical section.
userfault* begin_faults(bool pages) noexcept;
// Starts the thread, if it has not begun. Called with signals blocked by calls that hold pages
// while there are other threads. Returns false if it cannot be started now.
bool begin_to_look_after() noexcept;
// The userfaultfd, or null before it exists. Any thread; async-signal-safe.
userfault* view_faults() noexcept;
void forget_faults() noexcept;  // in a child

}  // namespace scute::core::interpose
