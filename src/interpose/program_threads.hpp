// SPDX-License-Identifier: BSD-3-Clause
// Whether the program has one thread.
//
// THREADS-1 What is answered with yes is so as long as the calling thread makes no other one: the C library says so, or the kernel's number
//    of the process's threads is that of the library's own and one. A thread that is neither's, with the process's memory, can be made by clone()
//    only; when one is, or may be, the answer is no from then on.
// THREADS-2 In a child of fork(), whose library threads are its parent's numbers and not its own, only the C library is asked.
#pragma once

namespace scute::core::interpose {

// In a critical section, before the first question; again does nothing.
void watch_threads() noexcept;
// A thread is about to be made that shares the memory and is none of this process's, or may be. Any thread.
void threads_come_unheard() noexcept;
// Any thread; async-signal-safe. A system call, where the library has threads.
bool has_one_thread() noexcept;

}  // namespace scute::core::interpose
