// SPDX-License-Identifier: BSD-3-Clause
// The process's one userfaultfd, and the thread that hears who waits for a page, or to store to one.
#pragma once

#include "interpose/userfault.hpp"

namespace scute::core::interpose {

// Null with errno: it cannot be had. The first call begins it, and the thread. In a critical section.
userfault* begin_faults() noexcept;
// As it has begun, or null. Any thread; async-signal-safe.
userfault* view_faults() noexcept;
void forget_faults() noexcept;  // in a child

}  // namespace scute::core::interpose
