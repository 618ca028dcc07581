// SPDX-License-Identifier: BSD-3-Clause
// The order of a thread's real-time signals, of which some have been sent to it again (DEFER-1).
//
// ORDER-1 A signal that is sent again comes after those that others have queued meanwhile, and are
//    queueing. So it is only a tick: what the kernel said of the signal is kept here, and whatever
//    comes of that number, the tick as well, takes the place of the last that is kept, and gives
//    the first one to the handler. When the tick comes, as many have come as were sent, in the
//    order in which they were sent.
// ORDER-2 There is room for few, and without room the order is the kernel's: more than one at once
//         are in here only if handlers interrupt each other.
// ORDER-3 A tick may never come: the program may have had its number ignored meanwhile. When none
//         of that number is on its way any more, what is kept of it is forgotten.
#pragma once

#include <csignal>
#include <cstddef>

namespace scute::core::interpose {

// Of one thread. In here all signals are held by the caller.
class signal_order {
 public:
  constexpr signal_order() = default;

  bool is_empty() const noexcept { return kept_ == 0; }
  // The result of exchange(), before it is sent again: the signal to send instead. False: there is
  // no room.
  bool keep(const siginfo_t& what, siginfo_t& tick) noexcept;
  // It could not be sent.
  void take_back() noexcept;
  // It has come: the information for the handler instead. more: others of its number may be on
  // their way.
  void exchange(siginfo_t& what, bool more) noexcept;
  void forget() noexcept { kept_ = 0; }

 private:
  bool is_tick(const siginfo_t& what) const noexcept;

  static constexpr size_t most = 3;
  siginfo_t first_to_last_[most] = {};  // of several numbers
  size_t kept_ = 0;
};

}  // namespace scute::core::interpose
