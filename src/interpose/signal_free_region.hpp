// SPDX-License-Identifier: BSD-3-Clause
// Whether a handler of a signal has run on this thread since some moment, without a system call.
//
// QUIET-1 The kernel clears the pointer of a thread to its restartable sequence (rseq(2), field
//    rseq_cs) when it gives the thread a signal or takes the processor from it outside of that
//    sequence. So the pointer to a sequence that has no instruction, set at a beginning, is there
//    at the end only if nothing of both has happened; all of it is seen by the thread itself, so
//    the order of its own instructions suffices.
// QUIET-2 At its end the pointer is cleared, so that an interrupted thread never finds what its
//         handler has set.
#pragma once

namespace scute::core::interpose {

// On one thread, one after the other; a handler's inside another one is no harm.
class signal_free_region {
 public:
  // False: cannot be known here (a kernel or a C library without rseq, or one that was asked not to
  // have it).
  static bool begin() noexcept;
  // True: nothing has interrupted the thread since begin(). False now and then without a signal,
  // too.
  static bool end() noexcept;
};

}  // namespace scute::core::interpose
