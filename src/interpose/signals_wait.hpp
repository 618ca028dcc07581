// SPDX-License-Identifier: BSD-3-Clause
// A scope in which the program's signals wait, but for those that an access raises itself, and pthread_cancel() waits: no handler of the program's
// runs in the middle of it. Async-signal-safe.
#pragma once

#include <csignal>

#include "base/uncancelled.hpp"

namespace scute::core::interpose {

// For what begins in one call and ends in another.
void hold_signals(sigset_t& before) noexcept;
void let_signals_come(const sigset_t& before) noexcept;

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
