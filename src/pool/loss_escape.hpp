// SPDX-License-Identifier: BSD-3-Clause
// Reads by a thread that cannot wait until a lost page is rebuilt: because it rebuilds one itself, or because it holds a
// stripe of other columns (GRIP-3). The handler of the fault leaves the read instead.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstdint>

namespace scute::core::pool {

// Where this thread goes on when a page cannot be read.
struct loss_escape {
  std::jmp_buf* way_out = nullptr;
  volatile uint64_t page = 0;
};
// initial-exec: a signal handler must not be the one to allocate it.
extern thread_local constinit loss_escape this_thread_escapes
    __attribute__((tls_model("initial-exec")));

// Runs body, which owns nothing that needs a destructor, and stores to nothing that its caller reads after a loss. If it meets
// a page that cannot be read, body is left there and the page's file offset returned; else 0, which is no zone's. Does not
// nest. Async-signal-safe.
template <typename Body>
uint64_t until_loss(Body&& body) noexcept {
  loss_escape& e = this_thread_escapes;
  std::jmp_buf way_out;
  if (_setjmp(way_out) != 0) {
    e.way_out = nullptr;
    return e.page;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  e.way_out = &way_out;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  body();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  e.way_out = nullptr;
  return 0;
}

// For the handler of the fault: does not return if the thread is in until_loss(); else nothing happens.
void escape_loss(uint64_t page) noexcept;

}  // namespace scute::core::pool
