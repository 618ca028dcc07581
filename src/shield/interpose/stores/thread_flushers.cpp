// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/thread_flushers.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/process/complaint.hpp"

namespace scute::core::interpose {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local constinit thread_flushers mine{};

// A handler of the same thread may interrupt this anywhere. It finds a place that is bound to its
// file, or takes a free one; the file is written last.
thread_flusher* bound(thread_flushers& block, guarded_file& file, uint32_t number) noexcept {
  for (thread_flusher& one : block.here)
    if (one.file == &file && one.number == number) return &one;
  for (thread_flusher& one : block.here) {
    if (one.is_live()) continue;
    one.file = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    one.by.~flusher();
    new (&one.by) view::flusher;
    one.number = number;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    one.file = &file;
    return &one;
  }
  return nullptr;
}

}  // namespace

thread_flushers& flushers_of_thread() noexcept {
  return mine;
}

thread_flusher& flusher_of(guarded_file& file) noexcept {
  const uint32_t number = file.number();
  for (thread_flushers* block = &mine;; block = block->more) {
    if (thread_flusher* const one = bound(*block, file, number); one != nullptr) return *one;
    if (block->more != nullptr) continue;
    void* const page = next::mmap(nullptr, sizeof(thread_flushers), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
      complain(file.path(), "no memory for a thread's flushes");
      std::abort();
    }
    block->more = new (page) thread_flushers;
  }
}

}  // namespace scute::core::interpose
