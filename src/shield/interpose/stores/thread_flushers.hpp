// SPDX-License-Identifier: BSD-3-Clause
// The calling thread's state in each of the views in which it has flushed.
//
// FLUSHER-1 Only the thread and its handlers use its flushers: no lock. One is bound to one opening
//    of one file; it is replaced when it is bound to another.
// FLUSHER-2 A few lie in the thread's static storage. A thread that uses more files at once gets a
//    page for them, which stays until the process ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/view/flusher.hpp"

namespace scute::core::interpose {

struct thread_flusher {
  guarded_file* file = nullptr;
  uint32_t number = 0;
  view::flusher by;

  bool is_live() const noexcept {
    return file != nullptr && file->is_open() && file->number() == number;
  }
};

struct thread_flushers {
  static constexpr size_t count = 3;
  thread_flusher here[count];
  thread_flushers* more = nullptr;
};
static_assert(sizeof(thread_flushers) <= 4096);

thread_flushers& flushers_of_thread() noexcept;

// Async-signal-safe.
thread_flusher& flusher_of(guarded_file& file) noexcept;

template <class F>
void for_each_flusher(F&& f) noexcept {
  for (thread_flushers* block = &flushers_of_thread(); block != nullptr; block = block->more)
    for (thread_flusher& one : block->here)
      if (one.is_live()) f(one);
}

}  // namespace scute::core::interpose
