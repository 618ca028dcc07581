// SPDX-License-Identifier: BSD-3-Clause
// Flushes, fences and windows of the calling thread, by address: the part that all front ends
// (libpmem, libpmemobj, instrumented code, scute/shield_view.h) have in common.
//
// DUR-1 A flush of a line of a view goes to that view's list; a fence asks every view in which the
//    thread has flushed since its last fence.
// DUR-2 A window is one file's. A flush in another file ends it at once, with its commit, before
//    the flush is listed, and so does a sync of another file; and there is none until the outermost
//    call has returned: a window must not change the order in which a thread makes two files
//    durable.
// DUR-3 A handler that interrupts any of this (DEFER-5) may flush and fence, in this file or
//    another: its flushes are listed, and nothing more (VIEW-7), since the thread may be in the
//    middle of a commit; its fence is made when that is over, before the interrupted call returns.
// DUR-4 A failed commit leaves no way to continue: stores are durable for the program as soon as
//    its fence returns, and there is no way to say that they are not. The process is ended
//    (SIGABRT), as by a failing medium.
// DUR-5 A handler that has interrupted a window but no call does not know of it, and may announce
//    what it makes durable: the first fence after its beginning ends the window, with its commit.
//    (What libpmemobj has under way is as any power failure may find it.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

class guarded_file;

// The frame of the innermost call of the calling thread's that flushes or fences, by its end
// towards the beginning of the stack; 0: there is none.
uintptr_t call_under_way() noexcept;
// In a child of fork(), of a handler perhaps: what its parent's thread was in the middle of is none
// of its affairs.
void forget_calls() noexcept;

// All of [at, at + n) is mapped from views.
bool in_view(const void* at, size_t n) noexcept;

// False: `at` is in no view, and nothing was done.
bool flush_lines(const void* at, size_t n) noexcept;
void fence_views() noexcept;
// The same, where reported stores may still come (a clflush: HOOK-3).
void commit_flushed() noexcept;
bool flush_and_fence(const void* at, size_t n) noexcept;

// All of the file, as fsync() does. -1 with EIO, after complaining. In no critical section, and in
// no handler that interrupts one of the calls above (docs/reference/limits.md).
int sync_file(guarded_file& file) noexcept;

// Of the file that is mapped at `at`; nothing if it is none of ours. They nest.
void begin_window(const void* at) noexcept;
void end_window() noexcept;
unsigned window_depth() noexcept;
// By a handler that begins (DUR-5).
void window_is_interrupted() noexcept;
// Called before each fence of this thread: ends a window that is over; null: none.
void ask_at_fences(void (*is_over)()) noexcept;
// How many fences the calling thread has made in the shield, those of windows as well.
uint64_t fences_made() noexcept;
// As at a fence, where a fence is not the reason. Nothing in a handler that has interrupted one of
// the calls above.
void ask_for_end() noexcept;
// This file is about to be written back, by a sync or an unmapping (DUR-2).
void end_window_elsewhere(const guarded_file& file) noexcept;

// Lines that are never flushed, by design: the audit does not count them.
void mask_lines(const void* at, size_t n) noexcept;

}  // namespace scute::core::interpose
