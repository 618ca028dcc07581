// SPDX-License-Identifier: BSD-3-Clause
// A scope in which pthread_cancel() waits. A thread that is cancelled unwinds its stack from the
// system call in which it waits. In the middle of a commit it would leave locks that no thread
// releases; and no exception may leave the C interface. So no call into the library is a
// cancellation point. Code that makes a system call which is one (a write-back, a wait) runs in
// such a scope, and the thread ends at the next cancellation point of the program. A commit to
// memory makes no such call, and pays nothing.
#pragma once

#include <pthread.h>

namespace scute::core {

// Async-signal-safe with the existing C libraries.
class uncancelled {
 public:
  uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~uncancelled() {
    int ours = 0;
    ::pthread_setcancelstate(before_, &ours);
  }
  uncancelled(const uncancelled&) = delete;
  uncancelled& operator=(const uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace scute::core
