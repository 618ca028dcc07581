// SPDX-License-Identifier: BSD-3-Clause
// A scope in which the program's signals wait, except for
// those that an access raises itself, and pthread_cancel() waits: no handler of the program's runs
// in the middle of it. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <csignal>
#include <cstddef>

#include "base/uncancelled.hpp"

namespace scute::core::interpose {

// Of a sigset_t, what the kernel has: there is no more of one in its record of what a handler has
// interrupted.
inline constexpr size_t bytes_of_kernels_set = 8;

// For what begins in one call and ends in another.
void hold_signals(sigset_t& before) noexcept;
void let_signals_come(const sigset_t& before) noexcept;
// Where a handler returns to: what is blocked there, and what waits besides. (Not what the handler
// itself blocks: where faults are blocked one ends the process.)
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
