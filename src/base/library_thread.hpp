// SPDX-License-Identifier: BSD-3-Clause
// Threads of this library's own, counted if they live long:
// code that asks whether the program has threads besides its first subtracts these.
#pragma once

#include <atomic>

namespace scute::core {

// One lives in the thread that it counts, from after its beginning to before its end. So a thread
// is counted only while it is one of the process's: two readings that are the same, and the
// process's number of threads between them, belong together.
class library_thread {
 public:
  library_thread() noexcept { count_.fetch_add(1); }
  ~library_thread() { count_.fetch_sub(1); }
  library_thread(const library_thread&) = delete;
  library_thread& operator=(const library_thread&) = delete;

  // In a child of fork() it is its parent's.
  static unsigned count() noexcept { return count_.load(); }

 private:
  static inline std::atomic<unsigned> count_{0};
};

}  // namespace scute::core
