// SPDX-License-Identifier: BSD-3-Clause
// Where a thread holds what others wait for, and a test may let it pause for a moment. Threads are
// not switched there, as at a switch_point() (base/waiting.hpp): the next one might wait for ever.
// In a build with planted bugs, and in no other.
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
