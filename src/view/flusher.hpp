// SPDX-License-Identifier: BSD-3-Clause
// What one thread of the program is to one view. It lies in the process, not in the shared region:
// a thread dies with its process, and what it had flushed is in the lists. Made once per thread and
// view; its address must not change while it is in use. Handlers of signals use the one of the
// thread that they interrupt.
//
// VIEW-7 A call that interrupts another call of the same thread into the view (from a signal
//    handler) takes no lock and waits for nobody: a flush is listed like any other; a fence is
//    noted, and made by the call that was interrupted before it returns.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace scute::core::view {

class flusher {
 public:
  flusher() = default;
  flusher(const flusher&) = delete;
  flusher& operator=(const flusher&) = delete;

  unsigned windows() const noexcept { return windows_; }

 private:
  friend class file_view;
  friend class view_call;
  friend class interruption;

  // Read and written by this thread and its handlers only, so nothing has to be ordered, except for
  // the compiler.
  std::atomic<uint32_t> depth_ = 0;        // calls into the view, one interrupting the other
  std::atomic<bool> fence_noted_ = false;  // VIEW-7
  bool in_list_ = false;                   // list_ has been chosen
  unsigned list_ = 0;
  unsigned windows_ = 0;
  std::atomic<bool> fence_deferred_ = false;  // by a window
  // Where lines were listed last, by a few bits of the line: position + 1. Only a hint
  // (flush_list.hpp).
  static constexpr size_t recent = 128;
  std::array<std::atomic<uint64_t>, recent> listed_ = {};
};

}  // namespace scute::core::view
