// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/critical.hpp"

#include <pthread.h>

#include <initializer_list>

namespace scute::core::interpose {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sigset_t before_fork;  // of who has the mutex

// All but those that an access raises itself.
void block_signals(sigset_t& before) noexcept {
  sigset_t waiting;
  ::sigfillset(&waiting);
  for (const int raised : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&waiting, raised);
  ::pthread_sigmask(SIG_BLOCK, &waiting, &before);
}

}  // namespace

critical::critical() noexcept {
  block_signals(before_);
  ::pthread_mutex_lock(&mutex);
}

critical::~critical() {
  ::pthread_mutex_unlock(&mutex);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// Signals wait as in a scope (CRIT-1): a handler that runs when fork() is over would wait for the mutex of its own thread.
void lock_for_fork() noexcept {
  sigset_t before;
  block_signals(before);
  ::pthread_mutex_lock(&mutex);
  before_fork = before;
}
void unlock_after_fork() noexcept {
  const sigset_t before = before_fork;
  ::pthread_mutex_unlock(&mutex);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace scute::core::interpose
