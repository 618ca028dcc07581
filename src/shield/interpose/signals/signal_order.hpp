// SPDX-License-Identifier: BSD-3-Clause
// Keeps the order of a thread's real-time signals, some of which are sent to it again (DEFER-1).
//
// ORDER-1 A signal that is sent again comes after those that others have queued meanwhile. So only
//    a tick is sent, and the signal's information is kept here. Each signal of that number that
//    arrives, the tick too, becomes the last kept, and the handler gets the first. So they arrive
//    in the order of sending.
// ORDER-2 There is room for few; without room the order is the kernel's. More than one is kept at a
//    time only if handlers interrupt each other.
// ORDER-3 A tick may never come: the program may have set its number to be ignored. When none of
//    that number is on its way any more, its kept information is forgotten.
#pragma once

#include <csignal>
#include <cstddef>

namespace scute::core::interpose {

// One per thread. The caller blocks all signals during its calls.
class signal_order {
 public:
  constexpr signal_order() = default;

  bool is_empty() const noexcept { return kept_ == 0; }
  // Keeps a signal, as exchange() has returned it, before it is sent again; tick is the signal to
  // send instead. Returns false if there is no room.
  bool keep(const siginfo_t& what, siginfo_t& tick) noexcept;
  // Undoes keep(): the tick could not be sent.
  void take_back() noexcept;
  // A signal has come: replaces its information by that for the handler. more: others of its number
  // may be on their way.
  void exchange(siginfo_t& what, bool more) noexcept;
  void forget() noexcept { kept_ = 0; }

 private:
  bool is_tick(const siginfo_t& what) const noexcept;

  static constexpr size_t most = 3;
  siginfo_t first_to_last_[most] = {};  // of several numbers
  size_t kept_ = 0;
};

}  // namespace scute::core::interpose
