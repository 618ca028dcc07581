// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/critical.hpp"

#include <pthread.h>

#include <initializer_list>

namespace scute::core::interpose {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

critical::critical() noexcept {
  sigset_t waiting;
  ::sigfillset(&waiting);
  for (const int raised : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&waiting, raised);
  ::pthread_sigmask(SIG_BLOCK, &waiting, &before_);
  ::pthread_mutex_lock(&mutex);
}

critical::~critical() {
  ::pthread_mutex_unlock(&mutex);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void lock_for_fork() noexcept {
  ::pthread_mutex_lock(&mutex);
}
void unlock_after_fork() noexcept {
  ::pthread_mutex_unlock(&mutex);
}

}  // namespace scute::core::interpose
