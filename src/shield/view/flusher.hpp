// SPDX-License-Identifier: BSD-3-Clause
// The state of one thread of the program in one view. It is in the process, not in the shared
// region: a thread dies with its process, and the lines that it had flushed are in the lists. Made
// once per thread and view; its address must not change while it is in use. Signal handlers use
// that of the thread that they interrupt.
//
// VIEW-7 A call into the view that interrupts another call of the same thread (from a signal
//    handler) takes no lock and waits for no thread. A flush is listed like any other. A fence is
//    noted, and the interrupted call makes it before it returns.
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

  // Only this thread and its handlers read and write these. So no order of the processor is needed,
  // only that of the compiler.
  std::atomic<uint32_t> depth_ = 0;        // calls into the view that interrupt one another
  std::atomic<bool> fence_noted_ = false;  // VIEW-7
  bool in_list_ = false;                   // list_ has been chosen
  unsigned list_ = 0;
  unsigned windows_ = 0;
  std::atomic<bool> fence_deferred_ = false;  // by a window
  // Positions + 1 at which lines were last listed, indexed by a few bits of the line. Only a hint
  // (flush_list.hpp).
  static constexpr size_t recent = 128;
  std::array<std::atomic<uint64_t>, recent> listed_ = {};
};

}  // namespace scute::core::view
