// SPDX-License-Identifier: BSD-3-Clause
// What a program has set for a signal before the library's handler was installed, and what becomes
// of signals that are not the library's: all of it as if the kernel had called the program's
// handler itself (FAULT-1 in repair/fault_handler.hpp).
//
//   SA_RESETHAND  the first one that is passed on finds the handler, the next one the default action
//   SA_NODEFER    the signal itself is blocked in the handler, unless the handler asked for it
//   sa_mask       is blocked on top of what the interrupted code had blocked, whatever the library has unblocked
//   SA_ONSTACK    without it the handler runs on the stack of the interrupted code, as the library's may not
//                 (on x86-64; elsewhere it runs where the library's does)
//   SA_SIGINFO    the handler gets what the kernel said; without it, the number alone
//   SA_RESTART    is the library's handler's as well (install())
#pragma once

#include <atomic>
#include <csignal>

namespace scute::core::repair {

class passed_on {
 public:
  // Puts up `ours` with SA_SIGINFO, SA_NODEFER and SA_ONSTACK, unless it is there, and remembers
  // what it replaces. Throws failure.
  void install(int signal, void (*ours)(int, siginfo_t*, void*));
  // From `ours`, whose last act this is: may return, or not. caller: where `ours` returns to, which
  // is the kernel's code unless another handler has called it. Async-signal-safe.
  void pass(int signal, siginfo_t* info, void* context, const void* caller) noexcept;

 private:
  bool is_default() const noexcept;

  struct sigaction before_{};
  std::atomic<bool> spent_{false};  // SA_RESETHAND
};

}  // namespace scute::core::repair
