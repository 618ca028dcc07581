// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/signals_wait.hpp"

#include <pthread.h>

#include <initializer_list>

namespace scute::core::interpose {

void hold_signals(sigset_t& before) noexcept {
  sigset_t waiting;
  ::sigfillset(&waiting);
  for (const int raised : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&waiting, raised);
  ::pthread_sigmask(SIG_BLOCK, &waiting, &before);
}

void let_signals_come(const sigset_t& before) noexcept {
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace scute::core::interpose
