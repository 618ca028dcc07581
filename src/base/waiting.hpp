// SPDX-License-Identifier: BSD-3-Clause
// What a thread does while another one keeps it waiting. Everything in the core that waits comes
// here, so that a test can run threads one at a time, in an order that it chooses: it gives each of
// its threads a hook, which is called instead of waiting and hands the turn on.
#pragma once

#include <mutex>
#include <thread>

#include "base/lock_contract.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scute::core {

// Looked at only by a thread that has to wait.
struct wait_hook {
  void (*call)(void* arg) = nullptr;
  void* arg = nullptr;
  // At a switch point (below).
  void (*pass)(void* arg) = nullptr;
};
inline thread_local wait_hook this_thread_waits;

// Where one thread reads what another one may store to without any lock, a test has to be able to switch
// threads as well. In a build with planted bugs (base/planted.hpp), and in no other.
inline void switch_point() noexcept {
#ifdef SCUTE_PLANTED_BUGS
  if (this_thread_waits.pass != nullptr) this_thread_waits.pass(this_thread_waits.arg);
#endif
}

// One turn of a spinning loop.
inline void spin_pause(unsigned& spins) noexcept {
  if (this_thread_waits.call != nullptr) {
    this_thread_waits.call(this_thread_waits.arg);
    return;
  }
  if (++spins % 64 == 0) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// For locks that are held across writes to the medium. (One that is not held there needs no hook: a
// test switches threads at writes and waits only.)
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
