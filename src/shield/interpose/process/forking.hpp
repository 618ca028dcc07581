// SPDX-License-Identifier: BSD-3-Clause
// The work before and after a fork() of the program (LIFE-2).
//
// FORK-1 A fork at any time in which a view is open is handled. The constructors of libraries may
//    open files and fork before the runtime's constructor, and their destructors after the
//    runtime's destructor. So the first file that is opened brings the handlers if the runtime's
//    constructor has not, and they stay until the process is gone.
// FORK-2 A thread that waits for a lock that a fork holds gets it. So the handlers stay even if the
//    runtime is finalized between the first and the second one.
//
// On FORK-2: pthread_atfork() notes the library that calls it, and the C library removes a
// library's handlers when it finalizes the library. __register_atfork() without a library is for
// handlers that stay. The runtime is never unloaded.
#pragma once

namespace scute::core::interpose {

// FORK-1. Once it has done so, further calls do nothing. Throws failure (no memory).
void handle_forks();

// For _Fork(), which runs no handlers: before it, and after it in the parent and in the child.
void begin_fork() noexcept;
void end_fork_in_parent() noexcept;
void end_fork_in_child() noexcept;

}  // namespace scute::core::interpose
