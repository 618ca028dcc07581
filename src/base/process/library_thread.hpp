// SPDX-License-Identifier: BSD-3-Clause
// Counts the library's own long-lived threads. Code that asks whether the program has threads
// besides its first one subtracts these.
#pragma once

#include <atomic>

namespace scute::core {

// One lives in the thread that it counts, from after its beginning to before its end. So a thread
// is counted only while it belongs to the process. If two readings are equal, they match the
// process's number of threads that was read between them.
class library_thread {
 public:
  library_thread() noexcept { count_.fetch_add(1); }
  ~library_thread() { count_.fetch_sub(1); }
  library_thread(const library_thread&) = delete;
  library_thread& operator=(const library_thread&) = delete;

  // In a child of fork() this is still the parent's count.
  static unsigned count() noexcept { return count_.load(); }

 private:
  static inline std::atomic<unsigned> count_{0};
};

}  // namespace scute::core
