// SPDX-License-Identifier: BSD-3-Clause
// The process's one userfaultfd, and the thread that hears who waits for a page. (Who waits to store is let go on by whom he waits for.)
#pragma once

#include "interpose/userfault.hpp"

namespace scute::core::interpose {

// Null with errno: it cannot be had. The first call begins it, and the first one for pages the thread. In a critical section.
userfault* begin_faults(bool pages) noexcept;
// As it has begun, or null. Any thread; async-signal-safe.
userfault* view_faults() noexcept;
void forget_faults() noexcept;  // in a child

}  // namespace scute::core::interpose
