// SPDX-License-Identifier: BSD-3-Clause
// The scope in which the tables of files, descriptors and mappings change.
//
// CRIT-1 Signals wait (signals_wait.hpp): no handler of the program's runs in the middle of a change, so handlers may call everything that POSIX
//    lets them call.
// CRIT-2 One mutex for all of it, which fork() takes: a child finds the tables whole. Whoever has it may want those of the library's that
//    fork() takes as well (base/process.hpp, PROC-4), so fork() takes it before them. (Found by hostile programs.)
// CRIT-3 errno is what the scope's owner makes of it: kept unless it fails.
#pragma once

#include "interpose/signals_wait.hpp"

namespace scute::core::interpose {

class critical {
 public:
  critical() noexcept;
  ~critical();
  critical(const critical&) = delete;
  critical& operator=(const critical&) = delete;

 private:
  signals_wait now_;  // before the mutex is taken, until it is free
};

// For the fork handlers.
void lock_for_fork() noexcept;
void unlock_after_fork() noexcept;

}  // namespace scute::core::interpose
