// SPDX-License-Identifier: BSD-3-Clause
// Flushes, fences and windows of the calling thread, by address: the common part of all front ends
// (libpmem, libpmemobj, instrumented code, scute/shield_view.h).
//
// DUR-1 A flush of a line of a view goes to that view's list; a fence goes to every view in which
//    the thread has flushed since its last fence.
// DUR-2 A window belongs to one file. A flush in another file ends it at once, with its commit,
//    before the flush is listed; so does a sync of another file. Then there is none until the
//    outermost call has returned: a window must not change the order in which a thread makes two
//    files durable.
// DUR-3 A handler that interrupts any of this (DEFER-5) may flush and fence, in this file or
//    another. Its flushes are only listed (VIEW-7), since the thread may be in the middle of a
//    commit. Its fence is made after that, before the interrupted call returns.
// DUR-4 After a failed commit there is no way to continue: for the program stores are durable as
//    soon as its fence returns, and nothing can report to it that they are not. The process is
//    ended (SIGABRT), as by a failing medium.
// DUR-5 A handler that has interrupted a window but no call does not know of the window, and may
//    announce what it makes durable. So the first fence after its beginning ends the window, with
//    its commit. (A power failure may find libpmemobj's operation unfinished at any time.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

class guarded_file;

// The frame address (the higher end) of the calling thread's innermost call that flushes or fences;
// 0: there is none.
uintptr_t call_under_way() noexcept;
// In a child of fork(), perhaps made by a handler: its parent's interrupted calls do not concern
// it.
void forget_calls() noexcept;

// Whether all of [at, at + n) is mapped from views.
bool in_view(const void* at, size_t n) noexcept;

// Returns false if `at` is in no view; then nothing was done.
bool flush_lines(const void* at, size_t n) noexcept;
void fence_views() noexcept;
// The same, if reported stores may still follow (a clflush: HOOK-3).
void commit_flushed() noexcept;
bool flush_and_fence(const void* at, size_t n) noexcept;

// Syncs the whole file, like fsync(). Returns -1 with EIO after complaining. Not in a critical
// section, and not in a handler that interrupts one of the calls above (docs/reference/limits.md).
int sync_file(guarded_file& file) noexcept;

// For the file that is mapped at `at`; does nothing if it is not ours. They nest.
void begin_window(const void* at) noexcept;
void end_window() noexcept;
unsigned window_depth() noexcept;
// Called by a handler that begins (DUR-5).
void window_is_interrupted() noexcept;
// Called before each fence of this thread: ends a window that is over; null: none.
void ask_at_fences(void (*is_over)()) noexcept;
// The number of fences that the calling thread has made in the shield, including those of windows.
uint64_t fences_made() noexcept;
// Asks as at a fence, for another reason. Does nothing in a handler that has interrupted one of the
// calls above.
void ask_for_end() noexcept;
// This file is about to be written back, by a sync or an unmapping (DUR-2).
void end_window_elsewhere(const guarded_file& file) noexcept;

// Lines that are never flushed, by design: the audit does not count them.
void mask_lines(const void* at, size_t n) noexcept;

}  // namespace scute::core::interpose
