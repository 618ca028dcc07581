// SPDX-License-Identifier: BSD-3-Clause
// A point where a thread holds what others wait for, and where a test may pause it for a moment.
// Threads are not switched there, as at a switch_point() (base/locks/waiting.hpp): the next thread
// might wait for ever. Exists only in builds with planted bugs.
#pragma once

#ifdef SCUTE_PLANTED_BUGS

namespace scute::core {

struct held_hook {
  void (*call)(void* arg) = nullptr;
  void* arg = nullptr;
};
inline thread_local held_hook this_thread_holds;

inline void held_point() noexcept {
  if (this_thread_holds.call != nullptr) this_thread_holds.call(this_thread_holds.arg);
}

}  // namespace scute::core

#else

namespace scute::core {
inline void held_point() noexcept {}
}  // namespace scute::core

#endif
