// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that the runtime and the core have for themselves: those of the pools, the views, and
// the connection to the supervisor. Programs close descriptors that they do not know (daemons close
// all); these they cannot close.
#pragma once

#include "base/process/kept_number.hpp"

namespace scute::core::interpose {

// Async-signal-safe, all of them. Numbers beyond the table are not remembered, and not protected.
void remember_own(int fd) noexcept;
void forget_own(int fd) noexcept;
bool is_own(int fd) noexcept;

// A copy of fd with a high number, close-on-exec, remembered. -1 with errno.
int keep_own(int fd) noexcept;
void close_own(int fd) noexcept;
void close_own(const kept_number& of) noexcept;  // NUMBER-2

}  // namespace scute::core::interpose
