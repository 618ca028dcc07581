// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/critical.hpp"

#include <pthread.h>

namespace scute::core::interpose {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sigset_t before_fork;  // of the mutex's holder

}  // namespace

critical::critical() noexcept {
  ::pthread_mutex_lock(&mutex);
}

critical::~critical() {
  ::pthread_mutex_unlock(&mutex);
}

// Signals wait as in a scope (CRIT-1): a handler that runs when fork() is over would wait for the
// mutex of its own thread.
void lock_for_fork() noexcept {
  sigset_t before;
  hold_signals(before);
  ::pthread_mutex_lock(&mutex);
  before_fork = before;
}
void unlock_after_fork() noexcept {
  const sigset_t before = before_fork;
  ::pthread_mutex_unlock(&mutex);
  let_signals_come(before);
}

}  // namespace scute::core::interpose
