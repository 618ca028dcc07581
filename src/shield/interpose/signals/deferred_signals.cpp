// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/signals/deferred_signals.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/locks/waiting.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/signals/signal_order.hpp"
#include "shield/interpose/signals/signals_wait.hpp"
#include "shield/interpose/stores/durability.hpp"

namespace scute::core::interpose {
namespace {

constexpr int signals_end = 65;

using function_of_handler = void (*)(int, siginfo_t*, void*);

// A handler setting of the program in one word: code addresses do not have the highest bits.
struct handler {
  static constexpr uintptr_t resets = uintptr_t{1} << 63, wants_info = uintptr_t{1} << 62;
  uintptr_t bits;

  static handler of(const struct sigaction& a) noexcept {
    return {reinterpret_cast<uintptr_t>(a.sa_sigaction) |
            ((a.sa_flags & SA_RESETHAND) != 0 ? resets : 0) |
            ((a.sa_flags & SA_SIGINFO) != 0 ? wants_info : 0)};
  }
  function_of_handler function() const noexcept {
    return reinterpret_cast<function_of_handler>(
        bits & ~(resets | wants_info));  // NOLINT(performance-no-int-to-ptr)
  }
};
std::atomic<uintptr_t> handlers[signals_end];
pid_t process = 0;  // the process of these handlers (DEFER-4)

// Held by a thread that changes a handler, with its signals blocked: so none of its handlers waits
// for it.
std::atomic_flag changing;
class change {
 public:
  change() noexcept {
    for (unsigned spins = 0; changing.test_and_set(std::memory_order_acquire);) spin_pause(spins);
  }
  ~change() { changing.clear(std::memory_order_release); }
  change(const change&) = delete;
  change& operator=(const change&) = delete;

 private:
  signals_wait now_;
};

struct deferral {
  bool is;
  sigset_t before;  // the mask when the signals came
};
[[gnu::tls_model("initial-exec")]] thread_local constinit deferral deferred{};

// DEFER-2
bool can_wait(int signal) noexcept {
  constexpr int raised[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  return signal > 0 && signal < signals_end &&
         std::ranges::find(raised, signal) == std::end(raised);
}

bool send_again(int signal, const siginfo_t& what) noexcept {
  return next::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), signal, &what) == 0;
}

// DEFER-6. Called with signals blocked.
[[gnu::tls_model("initial-exec")]] thread_local constinit signal_order order{};

bool send_in_order(int signal, const siginfo_t& what) noexcept {
  siginfo_t tick;
  if (signal < SIGRTMIN || !order.keep(what, tick)) return send_again(signal, what);
  if (send_again(signal, tick)) return true;
  order.take_back();
  return false;
}

void exchange(siginfo_t& what) noexcept {
  if (order.is_empty()) return;
  const int error = errno;
  sigset_t before;
  hold_signals(before);
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  // If its number is not blocked meanwhile, another one may be on its way below this frame.
  const bool last =
      ::sigismember(&pending, what.si_signo) == 0 && ::sigismember(&before, what.si_signo) == 1;
  order.exchange(what, !last);
  let_signals_come(before);
  errno = error;
}

// DEFER-1
bool wait_for_end(int signal, const siginfo_t& what, ucontext_t& interrupted) noexcept {
  const int error = errno;
  sigset_t before;
  hold_signals(before);
  if (!send_in_order(signal, what)) {
    let_signals_come(before);
    errno = error;
    return false;
  }
  sigset_t blocked;
  ::sigemptyset(&blocked);
  std::memcpy(&blocked, &interrupted.uc_sigmask, bytes_of_kernels_set);
  hold_signals_in(interrupted);
  // A signal that arrives while another one is being deferred finds the signals already blocked.
  if (!deferred.is || std::memcmp(&interrupted.uc_sigmask, &blocked, bytes_of_kernels_set) != 0)
    deferred.before = blocked;
  deferred.is = true;
  errno = error;
  return true;
}

void come(int signal, siginfo_t* info, void* interrupted);

bool is_ours(const struct sigaction& a) noexcept {
  return a.sa_sigaction == &come;
}

// DEFER-3
void reset(int signal, handler begun) noexcept {
  const change mine;
  struct sigaction now;
  if (handlers[signal].load() != begun.bits || next::sigaction(signal, nullptr, &now) != 0 ||
      !is_ours(now))
    return;
  now.sa_handler = SIG_DFL;
  now.sa_flags |= SA_RESETHAND;
  if ((begun.bits & handler::wants_info) == 0) now.sa_flags &= ~SA_SIGINFO;
  next::sigaction(signal, &now, nullptr);
}

void come(int signal, siginfo_t* info, void* interrupted) {
  exchange(*info);
  if (call_under_way() != 0 && wait_for_end(signal, *info, *static_cast<ucontext_t*>(interrupted)))
    return;
  window_is_interrupted();
  const handler h{handlers[signal].load()};
  if ((h.bits & handler::resets) != 0) {
    const int error = errno;
    reset(signal, h);
    errno = error;
  }
  h.function()(signal, info, interrupted);
}

bool is_function(const struct sigaction& a) noexcept {
  return a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && a.sa_handler != SIG_ERR;
}

// Describes a handler as the program has set it.
void describe(struct sigaction& a, handler h) noexcept {
  if (!is_ours(a)) return;
  a.sa_sigaction = h.function();
  if ((h.bits & handler::wants_info) == 0) a.sa_flags &= ~SA_SIGINFO;
  if ((h.bits & handler::resets) != 0) a.sa_flags |= SA_RESETHAND;
}

}  // namespace

int set_handler(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept {
  if (!can_wait(signal)) return next::sigaction(signal, wanted, before);
  const change mine;
  const handler old{handlers[signal].load()};
  const pid_t here = ::getpid();
  if (process == 0) process = here;  // before our constructor
  struct sigaction given, was;
  const struct sigaction* set = wanted;
  // A caller that has asked the kernel directly passes our own handler back.
  if (wanted != nullptr && is_function(*wanted) && !is_ours(*wanted) && here == process) {
    given = *wanted;
    given.sa_sigaction = &come;
    given.sa_flags |= SA_SIGINFO;
    given.sa_flags &= static_cast<int>(~SA_RESETHAND);
    set = &given;
    handlers[signal].store(handler::of(*wanted).bits);
  }
  const int result = next::sigaction(signal, set, &was);
  if (result != 0) {
    handlers[signal].store(old.bits);
    return result;
  }
  describe(was, old);
  if (before != nullptr) *before = was;
  return 0;
}

void let_deferred_signals_come() noexcept {
  if (!deferred.is) return;
  deferred.is = false;
  const sigset_t before = deferred.before;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void forget_deferral() noexcept {
  deferred.is = false;
}

void blocked_signals(sigset_t& now) noexcept {
  if (deferred.is)
    now = deferred.before;
  else
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
}

void own_handlers() noexcept {
  changing.clear();
  order.forget();
  process = ::getpid();
}

}  // namespace scute::core::interpose
