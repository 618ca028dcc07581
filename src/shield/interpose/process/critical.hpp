// SPDX-License-Identifier: BSD-3-Clause
// The scope in which the tables of files, descriptors and mappings change.
//
// CRIT-1 Signals wait (signals_wait.hpp): no handler of the program runs in the middle of a change,
//    so handlers may call everything that POSIX lets them call.
// CRIT-2 One mutex guards everything, and fork() takes it: a child finds complete tables. Its
//    holder may also need the library's mutexes that fork() takes
//    (base/process/process.hpp, PROC-4), so fork() takes it before them. (Found by hostile
//    programs.)
// CRIT-3 The scope's owner decides about errno: it is kept unless the owner fails.
#pragma once

#include "shield/interpose/signals/signals_wait.hpp"

namespace scute::core::interpose {

// While an object lives on this thread, its calls are the runtime's: other libraries' functions
// that the runtime calls may use syscall(), which is interposed.
class inside_runtime {
 public:
  inside_runtime() noexcept { ++depth_; }
  ~inside_runtime() { --depth_; }
  inside_runtime(const inside_runtime&) = delete;
  inside_runtime& operator=(const inside_runtime&) = delete;
  static bool here() noexcept { return depth_ != 0; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit unsigned depth_ = 0;
};

class critical {
 public:
  critical() noexcept;
  ~critical();
  critical(const critical&) = delete;
  critical& operator=(const critical&) = delete;

 private:
  inside_runtime here_;
  signals_wait now_;  // before the mutex is taken, until it is free
};

// For the fork handlers.
void lock_for_fork() noexcept;
void unlock_after_fork() noexcept;

}  // namespace scute::core::interpose
