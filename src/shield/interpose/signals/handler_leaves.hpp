// SPDX-License-Identifier: BSD-3-Clause
// Signal handlers that have interrupted a flush or a fence in views and do not return: they leave
// by siglongjmp(), longjmp() or exit().
//
// LEAVE-1 Such a departure waits until the interrupted call has ended, and takes place then: the
//    handler's frame is returned to the kernel (rt_sigreturn) with all signals blocked, and the end
//    of the call departs with the handler's signal mask. So every call releases its locks, counts
//    and depths.
// LEAVE-2 If several calls have interrupted each other, each is ended like this, the innermost
//    first.
// LEAVE-3 A jump that stays within the handler, or with no call under way, is the C library's,
//    unchanged. In a child that the handler has made no call is under way.
// LEAVE-4 If a departure would have to wait and the handler's frame is not found, the process ends
//    (SIGABRT): later stores could not be made durable. So it does for a handler that is called for
//    a fault of the call itself, which would meet the fault again.
//
// About LEAVE-1: so exit() waits for none of these locks.
//
// About LEAVE-4: a CI on a processor with AVX-512 has found that a handler without SA_SIGINFO was
// taken for one of a fault, because of leftovers on the stack.
//
// The runtime knows where the C library's jump_buf keeps the stack pointer, and how it is mangled.
// It verifies both before it relies on them. (x86-64.)
#pragma once

namespace scute::core::interpose {

// In a child of fork().
void forget_departures() noexcept;
// At the end of a call: carries out a departure that waits on this thread, and then does not
// return.
void do_what_waits() noexcept;

}  // namespace scute::core::interpose
