// SPDX-License-Identifier: BSD-3-Clause
// Signal handlers that the program sets with the C library: none of them begins in the middle of a
// flush or a fence. So what a handler makes durable is durable when its own fence returns. It may
// call everything, and leave by a jump or exit(), as without the shield.
//
// DEFER-1 The kernel calls our handler. If the thread is in a flush or a fence, our handler sends
//    the signal to the thread again, with all that the kernel has said of it. It blocks all signals
//    except those of DEFER-2 until that call ends, whatever the program's handler itself blocks.
//    The kernel keeps them meanwhile.
// DEFER-2 Signals that an access or an instruction raises, and SIGABRT, cannot wait: the program's
//    own handlers get them at once.
// DEFER-3 The program sees the handlers that it has set. SA_RESETHAND takes effect when the
//    program's handler begins; a waiting signal has reset nothing.
// DEFER-4 In a child of vfork() the table of handlers is its parent's memory, but the kernel's
//    state is the child's own: nothing is noted there, and handlers are set only in the kernel.
// DEFER-5 Handlers that were set by raw system calls, and signals that the kernel does not take
//    back (RLIMIT_SIGPENDING), begin at once, as any handler did: then VIEW-7 and LEAVE-1 apply.
// DEFER-6 Real-time signals keep their order (signal_order.hpp).
//
// A call that no signal interrupts pays nothing for this.
#pragma once

#include <csignal>

namespace scute::core::interpose {

// Like sigaction(); async-signal-safe.
int set_handler(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept;

// At the end of a call: delivers the signals that have waited, before it returns. Does nothing if
// there are none.
void let_deferred_signals_come() noexcept;
// Forgets waiting signals: the caller delivers them.
void forget_deferral() noexcept;
// The signals that the thread has blocked, without those that wait here.
void blocked_signals(sigset_t& now) noexcept;
// To be called early in a process, and in a child of fork().
void own_handlers() noexcept;

}  // namespace scute::core::interpose
