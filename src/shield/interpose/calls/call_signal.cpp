// SPDX-License-Identifier: BSD-3-Clause
// Functions that set signal handlers (DEFER-1). sigignore() sets none, and siginterrupt() changes
// an existing one.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/signals/deferred_signals.hpp"

using namespace scute::core::interpose;

namespace {

// Signals that do not restart interrupted calls, for signal().
std::atomic<uint64_t> interrupting{0};

uint64_t bit_of(int signal) noexcept {
  return signal > 0 && signal <= 64 ? uint64_t{1} << (signal - 1) : 0;
}

sighandler_t set(int signal, sighandler_t to, int flags, bool blocks_itself) noexcept {
  struct sigaction act = {}, before = {};
  act.sa_handler = to;
  act.sa_flags = flags;
  ::sigemptyset(&act.sa_mask);
  if (to == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  if (blocks_itself && ::sigaddset(&act.sa_mask, signal) != 0) return SIG_ERR;
  return set_handler(signal, &act, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

SCUTE_INTERPOSED(int, sigaction, (int signal, const struct sigaction* act, struct sigaction* old)) {
  return set_handler(signal, act, old);
}
SCUTE_INTERPOSED_ALIAS(int, __sigaction, sigaction,
                       (int signal, const struct sigaction* act, struct sigaction* old));

SCUTE_INTERPOSED(sighandler_t, signal, (int signal, sighandler_t to)) {
  return set(signal, to, (interrupting.load() & bit_of(signal)) != 0 ? 0 : SA_RESTART, true);
}
SCUTE_INTERPOSED_ALIAS(sighandler_t, bsd_signal, signal, (int signal, sighandler_t to));
SCUTE_INTERPOSED_ALIAS(sighandler_t, ssignal, signal, (int signal, sighandler_t to));

SCUTE_INTERPOSED(sighandler_t, __sysv_signal, (int signal, sighandler_t to)) {
  constexpr int interrupt = 0x20000000;  // as the C library has it; the kernel does not look
  return set(signal, to, static_cast<int>(SA_RESETHAND | SA_NODEFER | interrupt), false);
}
SCUTE_INTERPOSED_ALIAS(sighandler_t, sysv_signal, __sysv_signal, (int signal, sighandler_t to));

SCUTE_INTERPOSED(int, siginterrupt, (int signal, int flag)) {
  const int result = next::siginterrupt(signal, flag);
  if (result != 0) return result;
  if (flag != 0)
    interrupting.fetch_or(bit_of(signal));
  else
    interrupting.fetch_and(~bit_of(signal));
  return 0;
}

SCUTE_INTERPOSED(sighandler_t, sigset, (int signal, sighandler_t to)) {
  if (to == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  sigset_t it, before;
  ::sigemptyset(&it);
  if (::sigaddset(&it, signal) != 0) return SIG_ERR;
  const bool holds = to == SIG_HOLD;
  struct sigaction act = {}, was = {};
  act.sa_handler = to;
  ::sigemptyset(&act.sa_mask);
  if (set_handler(signal, holds ? nullptr : &act, &was) != 0) return SIG_ERR;
  ::pthread_sigmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &it, &before);
  return ::sigismember(&before, signal) == 1 ? SIG_HOLD : was.sa_handler;
}
