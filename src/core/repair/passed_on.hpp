// SPDX-License-Identifier: BSD-3-Clause
// Keeps the program's setting for a signal from before the library's handler was installed. Signals
// that are not the library's are handled as if the kernel had called the program's handler itself
// (FAULT-1 in core/repair/fault_handler.hpp).
//
//   SA_RESETHAND  the first signal passed on finds the handler, the next one the default action
//   SA_NODEFER    the signal itself is blocked in the handler, unless the handler asked for it
//   sa_mask       is blocked in addition to the interrupted code's mask, whatever the library has
//                 unblocked
//   SA_ONSTACK    without it the handler runs on the stack of the interrupted code, unlike the
//                 library's (on x86-64; elsewhere it runs where the library's does)
//   SA_SIGINFO    the handler gets the kernel's information; without it, the number alone
//   SA_RESTART    is set for the library's handler as well (install())
#pragma once

#include <atomic>
#include <csignal>

namespace scute::core::repair {

class passed_on {
 public:
  // Installs `ours` with SA_SIGINFO, SA_NODEFER and SA_ONSTACK, unless it is installed, and
  // remembers the handler that it replaces. Throws failure.
  void install(int signal, void (*ours)(int, siginfo_t*, void*));
  // The last act of `ours`: it may return, or not. caller: the return address of `ours`, which is
  // in the kernel's code unless another handler has called it. Async-signal-safe.
  void pass(int signal, siginfo_t* info, void* context, const void* caller) noexcept;

 private:
  bool is_default() const noexcept;

  struct sigaction before_{};
  std::atomic<bool> spent_{false};  // SA_RESETHAND
};

}  // namespace scute::core::repair
