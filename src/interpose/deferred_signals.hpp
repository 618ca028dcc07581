// SPDX-License-Identifier: BSD-3-Clause
// Handlers of signals that the program sets with the C library: none of them begins in the middle
// of a flush or a fence. So what a handler makes durable is so when its own fence returns, and it
// may call everything, and leave by a jump or exit(), as without the shield.
//
// DEFER-1 What the kernel calls is ours. While a flush or a fence of the thread is under way it
//    sends the signal to the thread again, with all that the kernel has said of it, and lets all
//    signals wait until the end of that call, except for those of DEFER-2, whatever the handler
//    itself blocks: the kernel keeps them, as those that a program blocks. Nothing is paid for this
//    by a call that no signal meets.
// DEFER-2 Signals that an access or an instruction raises, and SIGABRT, cannot wait: their handlers
//         are the program's own, at once.
// DEFER-3 The program sees the handlers that it has set. SA_RESETHAND is ours to do, when the
//         handler begins: a signal that waits has reset nothing.
// DEFER-4 In a child of vfork() the table of handlers is its parent's memory, but not what the
//    kernel knows: nothing is noted there, and what it sets is the kernel's.
// DEFER-5 What no function here hears of (handlers set by system calls of the program's own), and
//    what the kernel does not take back (RLIMIT_SIGPENDING), begins at once, as any handler did:
//    then VIEW-7 and LEAVE-1 count.
// DEFER-6 Real-time signals keep their order (signal_order.hpp).
#pragma once

#include <csignal>

namespace scute::core::interpose {

// As sigaction(); async-signal-safe.
int set_handler(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept;

// At the end of a call: those that have waited come, in here. Nothing if there are none.
void let_deferred_signals_come() noexcept;
// None wait any more: the caller lets them come.
void forget_deferral() noexcept;
// The signals that the thread has blocked, except for those that wait here.
void blocked_signals(sigset_t& now) noexcept;
// Early in a process, and in a child of fork().
void own_handlers() noexcept;

}  // namespace scute::core::interpose
