// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/signals/signal_order.hpp"

#include <unistd.h>

#include <algorithm>

namespace scute::core::interpose {

// The address identifies the thread's object.
bool signal_order::is_tick(const siginfo_t& what) const noexcept {
  return what.si_code == SI_QUEUE && what.si_value.sival_ptr == this && what.si_pid == ::getpid();
}

bool signal_order::keep(const siginfo_t& what, siginfo_t& tick) noexcept {
  if (kept_ == most) return false;
  std::move_backward(first_to_last_, first_to_last_ + kept_, first_to_last_ + kept_ + 1);
  first_to_last_[0] = what;
  ++kept_;
  tick = {};
  tick.si_signo = what.si_signo;
  tick.si_code = SI_QUEUE;
  tick.si_pid = ::getpid();
  tick.si_value.sival_ptr = this;
  return true;
}

void signal_order::take_back() noexcept {
  std::move(first_to_last_ + 1, first_to_last_ + kept_, first_to_last_);
  --kept_;
}

void signal_order::exchange(siginfo_t& what, bool more) noexcept {
  const auto end = first_to_last_ + kept_;
  if (!more && !is_tick(what)) {
    const auto others = std::remove_if(
        first_to_last_, end, [&](const siginfo_t& kept) { return kept.si_signo == what.si_signo; });
    kept_ = static_cast<size_t>(others - first_to_last_);
    return;
  }
  const auto first = std::find_if(
      first_to_last_, end, [&](const siginfo_t& kept) { return kept.si_signo == what.si_signo; });
  if (first == end) return;
  const siginfo_t next = *first;
  std::move(first + 1, end, first);
  if (is_tick(what))
    --kept_;
  else
    first_to_last_[kept_ - 1] = what;
  what = next;
}

}  // namespace scute::core::interpose
