// SPDX-License-Identifier: BSD-3-Clause
// A scope in which the program's signals wait, except for those that an access itself raises, and
// in which pthread_cancel() waits: no handler of the program runs in the middle of it.
// Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <csignal>
#include <cstddef>

#include "base/process/uncancelled.hpp"

namespace scute::core::interpose {

// The bytes of a sigset_t that the kernel uses: its record of what a handler has interrupted has no
// more.
inline constexpr size_t bytes_of_kernels_set = 8;

// For regions that begin in one call and end in another.
void hold_signals(sigset_t& before) noexcept;
void let_signals_come(const sigset_t& before) noexcept;
// Adds these signals to the mask to which a handler returns. (It does not block what the handler
// itself blocks: if faults are blocked, one ends the process.)
void hold_signals_in(ucontext_t& returned_to) noexcept;

class signals_wait {
 public:
  signals_wait() noexcept { hold_signals(before_); }
  ~signals_wait() { let_signals_come(before_); }
  signals_wait(const signals_wait&) = delete;
  signals_wait& operator=(const signals_wait&) = delete;

 private:
  uncancelled now_;
  sigset_t before_;
};

}  // namespace scute::core::interpose
