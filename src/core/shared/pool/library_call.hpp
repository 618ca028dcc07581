// SPDX-License-Identifier: BSD-3-Clause
// Whether this thread is in a call into the library, or reads the pool through a pointer of its
// own: lost bytes are reported in different ways (core/repair/page_repair.hpp, PAGE-6).
#pragma once

#include <cstdint>

namespace scute::core::pool {

inline thread_local constinit uint32_t library_depth __attribute__((tls_model("initial-exec"))) = 0;

// How often a library call of this thread got a page whose content is lost. Code that copies bytes
// compares it before and after.
inline thread_local constinit uint64_t losses_of_this_thread
    __attribute__((tls_model("initial-exec"))) = 0;

struct library_call {
  library_call() noexcept { ++library_depth; }
  ~library_call() { --library_depth; }
  library_call(const library_call&) = delete;
  library_call& operator=(const library_call&) = delete;
};

}  // namespace scute::core::pool
