// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether a signal handler has run on this thread since some moment, without a system
// call.
//
// QUIET-1 When the kernel gives a thread a signal, or takes the processor from it, outside of the
//    thread's restartable sequence, it clears the pointer to that sequence (rseq(2), field
//    rseq_cs). So if the pointer is set to an empty sequence at the beginning and still there at
//    the end, neither has happened.
// QUIET-2 At the end the pointer is cleared, so that an interrupted thread never finds the pointer
//    that its handler has set.
//
// The thread itself sees all of this, so the order of its own instructions suffices.
#pragma once

namespace scute::core::interpose {

// One region at a time on a thread; one of a handler inside another region does no harm.
class signal_free_region {
 public:
  // Returns false if it cannot be known here (a kernel or a C library without rseq, or with rseq
  // disabled).
  static bool begin() noexcept;
  // Returns true if nothing has interrupted the thread since begin(). Occasionally false without a
  // signal.
  static bool end() noexcept;
};

}  // namespace scute::core::interpose
