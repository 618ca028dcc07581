// SPDX-License-Identifier: BSD-3-Clause
// Stores to views that the runtime learns of before they happen.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace scute::core::interpose {

class guarded_file;

// Instrumented code is about to store there (HOOK-3). Async-signal-safe.
void report_store(const void* at, size_t n) noexcept;

// While an object lives, an interposed call stores to the view: by itself, or by the kernel through
// a descriptor.
class known_store {
 public:
  known_store(const void* at, size_t n) noexcept;
  // For a write of n bytes to a shielded descriptor, at `at`, or at its position (-1).
  known_store(int fd, off_t at, size_t n) noexcept;
  ~known_store();
  known_store(const known_store&) = delete;
  known_store& operator=(const known_store&) = delete;

 private:
  bool was_in_flight_;
};

}  // namespace scute::core::interpose
