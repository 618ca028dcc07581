// SPDX-License-Identifier: BSD-3-Clause
// Which signals a thread takes that works on a pool. An access to a lost page raises SIGBUS itself
// (or SIGSEGV, if access was removed). The kernel cannot hold back such a signal: if the thread
// blocks it, the process ends, whatever handler there is.
//
// SIG-1 The calling thread stops blocking both at its first call on an open pool, and at every call
//    while a page of the pool is known to be lost. (Asking the kernel at every call would cost more
//    than the call.)
// SIG-2 Threads of the library take these two and no others: no handler of the program runs in
//    them.
// SIG-3 If the length of files is limited (RLIMIT_FSIZE), a call that would extend a file beyond
//    that length, or write there, raises SIGXFSZ in its thread. That ends the process unless the
//    program handles it. Such calls are made with the signal held back, and a raised one is removed
//    again: the error (EFBIG) is enough. The program's disposition of the signal stays.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace scute::core {

// Async-signal-safe.
inline void unblock_faults() noexcept {
  sigset_t faults;
  ::sigemptyset(&faults);
  ::sigaddset(&faults, SIGBUS);
  ::sigaddset(&faults, SIGSEGV);
  ::pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

// SIG-2
inline void block_all_but_faults() noexcept {
  sigset_t others;
  ::sigfillset(&others);
  ::sigdelset(&others, SIGBUS);
  ::sigdelset(&others, SIGSEGV);
  ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

// SIG-3. Async-signal-safe, no cancellation point, and keeps errno.
class length_signal_held {
 public:
  length_signal_held() noexcept {
    sigset_t pending;
    ::sigpending(&pending);
    if (::sigismember(&pending, SIGXFSZ) == 1) return;  // the program holds it back, and wants it
    const sigset_t mine = set();
    held_ = ::pthread_sigmask(SIG_BLOCK, &mine, &before_) == 0;
  }
  ~length_signal_held() {
    if (!held_) return;
    const int keep = errno;
    const sigset_t mine = set();
    constexpr timespec at_once{};
    constexpr size_t kernel_set_size = _NSIG / 8;
    while (::syscall(SYS_rt_sigtimedwait, &mine, nullptr, &at_once, kernel_set_size) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = keep;
  }
  length_signal_held(const length_signal_held&) = delete;
  length_signal_held& operator=(const length_signal_held&) = delete;

 private:
  static sigset_t set() noexcept {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, SIGXFSZ);
    return one;
  }
  sigset_t before_;
  bool held_ = false;
};

}  // namespace scute::core
