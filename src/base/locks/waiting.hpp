// SPDX-License-Identifier: BSD-3-Clause
// Waiting for another thread. All code of the core that waits calls this, so that a test can run
// threads one at a time, in an order that it chooses. The test gives each of its threads a hook,
// which is called instead of waiting and passes the turn on.
//
// A thread that waits for another one spins at first, then yields, and then sleeps. Yielding is no
// wait: of threads with real-time priorities on one processor the higher one continues at once, and
// the lower one, which holds what it waits for, never runs. No thread wakes a sleeper, so releasing
// costs no more than a store. It sleeps about as long as it has waited already, and a millisecond
// at most: no wait lasts much longer than its cause.
#pragma once

#include <mutex>

#include "base/locks/lock_contract.hpp"

namespace scute::core {

// Read only by a thread that has to wait.
struct wait_hook {
  void (*call)(void* arg) = nullptr;
  void* arg = nullptr;
#ifdef SCUTE_PLANTED_BUGS
  // At a switch point (below).
  void (*pass)(void* arg) = nullptr;
#endif
};
inline thread_local constinit wait_hook this_thread_waits
    __attribute__((tls_model("initial-exec"))) = {};

// A point where a thread reads data that another one may store to without any lock: a test must be
// able to switch threads there. Has an effect only in builds with planted bugs (tests/planted).
inline void switch_point() noexcept {
#ifdef SCUTE_PLANTED_BUGS
  if (this_thread_waits.pass != nullptr) this_thread_waits.pass(this_thread_waits.arg);
#endif
}

// This many turns of a loop take some 50 microseconds. A thread that tries a limited number of
// times, and then gives up, sleeps in the turns after these: 0.4 ms in the first ten of them, 81 ms
// in a hundred.
inline constexpr unsigned turns_before_sleep = 1024;
// Yields or sleeps. Async-signal-safe, no cancellation point, keeps errno; general registers only.
void yield_or_sleep(unsigned& turns) noexcept;

// One turn of a loop that waits. turns: 0 at the first one.
inline void spin_pause(unsigned& turns) noexcept {
  if (this_thread_waits.call != nullptr) {
    this_thread_waits.call(this_thread_waits.arg);
    return;
  }
  if (++turns % 64 == 0 || turns > turns_before_sleep) {  // NOLINT(bugprone-inc-dec-in-conditions)
    yield_or_sleep(turns);
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
// Lets other threads run that the next attempt may depend on.
inline void give_way() noexcept {
  unsigned turns = turns_before_sleep;
  spin_pause(turns);
}

// For locks that are held across writes to the medium. (Other locks need no hook: a test switches
// threads only at writes and waits.)
class SCUTE_CAPABILITY("mutex") waiting_mutex {
 public:
  void lock() SCUTE_ACQUIRE() {
    if (mutex_.try_lock()) return;
    if (this_thread_waits.call == nullptr) return mutex_.lock();
    do this_thread_waits.call(this_thread_waits.arg);
    while (!mutex_.try_lock());
  }
  bool try_lock() SCUTE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() SCUTE_RELEASE() { mutex_.unlock(); }
  void assume_held() const noexcept SCUTE_ASSUME_HELD() {}

 private:
  std::mutex mutex_;
};

}  // namespace scute::core
