// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/signals/signals_wait.hpp"

#include <pthread.h>

#include <cstring>
#include <initializer_list>

namespace scute::core::interpose {

namespace {

sigset_t those_that_wait() noexcept {
  sigset_t waiting;
  ::sigfillset(&waiting);
  // The kernel blocks the last two in no mask.
  for (const int comes : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGKILL, SIGSTOP})
    ::sigdelset(&waiting, comes);
  return waiting;
}

}  // namespace

void hold_signals(sigset_t& before) noexcept {
  const sigset_t waiting = those_that_wait();
  ::pthread_sigmask(SIG_BLOCK, &waiting, &before);
}

void hold_signals_in(ucontext_t& returned_to) noexcept {
  const sigset_t waiting = those_that_wait();
  sigset_t blocked;
  ::sigemptyset(&blocked);
  std::memcpy(&blocked, &returned_to.uc_sigmask, bytes_of_kernels_set);
  ::sigorset(&blocked, &blocked, &waiting);
  std::memcpy(&returned_to.uc_sigmask, &blocked, bytes_of_kernels_set);
}

void let_signals_come(const sigset_t& before) noexcept {
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace scute::core::interpose
