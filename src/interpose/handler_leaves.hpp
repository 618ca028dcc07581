// SPDX-License-Identifier: BSD-3-Clause
// Handlers of signals that have interrupted a flush or a fence in views, and do not return: by
// siglongjmp(), longjmp() or exit().
//
// LEAVE-1 What does not return waits until the call that was interrupted is over, and is done then
//    in its place: the handler's frame is given back to the kernel as if it had returned
//    (rt_sigreturn), with all signals blocked, and the end of the call does it with the signals
//    blocked that the handler had. So every call releases its locks, counts and depths, and exit()
//    waits for none of them.
// LEAVE-2 Where several calls have interrupted each other, each is ended so, the innermost first.
// LEAVE-3 A jump that stays within the handler, or that no call waits for, is the C library's as
//    ever. In a child that the handler has made no call is under way.
// LEAVE-4 What would have to wait, and whose handler's frame is not found, ends the process
//    (SIGABRT): what comes after it could not be made durable. So does code called for a fault of
//    the call itself, which meets it again when it continues: it is known by that. (Found by a CI
//    on a processor with AVX-512: a handler without SA_SIGINFO was taken for one of a fault, by
//    what was left on the stack.)
//
// The runtime knows where the C library's jump_buf has the stack's place, and how it is hidden. It
// tries both before it believes them. (x86-64.)
#pragma once

namespace scute::core::interpose {

// In a child of fork().
void forget_departures() noexcept;
// At the end of a call, on whose thread something may wait: does it, and does not return then.
void do_what_waits() noexcept;

}  // namespace scute::core::interpose
