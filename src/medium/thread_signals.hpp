// SPDX-License-Identifier: BSD-3-Clause
// Which signals a thread takes that works on a pool. A lost page is met as a SIGBUS (or, where access was
// taken away, a SIGSEGV) that the access itself raises. The kernel knows no way to keep such a signal back:
// if the thread blocks it, the process ends, whatever handler there is.
//
// S1 The calling thread stops blocking both at its first call on an open pool, and at every call while a page
//    of the pool is known to be lost. (Asking the kernel at every call would cost more than the call.)
// S2 Threads of the library's own take these two and no others: no handler of the program's runs in them.
#pragma once

#include <csignal>

namespace scute::medium {

// Async-signal-safe.
inline void unblock_faults() noexcept {
  sigset_t faults;
  ::sigemptyset(&faults);
  ::sigaddset(&faults, SIGBUS);
  ::sigaddset(&faults, SIGSEGV);
  ::pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

// S2
inline void block_all_but_faults() noexcept {
  sigset_t others;
  ::sigfillset(&others);
  ::sigdelset(&others, SIGBUS);
  ::sigdelset(&others, SIGSEGV);
  ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

}  // namespace scute::medium
