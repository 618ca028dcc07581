// SPDX-License-Identifier: BSD-3-Clause
// Whether the program has one thread.
//
// THREADS-1 What is answered with yes is so as long as the calling thread makes no other one: the C
//    library says so, or its number of the process's threads, or the kernel's, is that of the
//    library's own and one. A thread that is neither's, with the process's memory, can be made by
//    clone() only; when one is, or may be, the answer is no from then on.
// THREADS-2 A child of fork() has none of its parent's library threads, and a folder of threads of
//           its own, which the kernel is asked by.
// THREADS-3 A thread that ends may take a signal after the C library has ceased to count it. So
//    once the program may have had a second one (it has called pthread_create() or thrd_create(),
//    or the C library has counted one) the kernel has to say that there is one, too.
// THREADS-4 An instruction that makes a thread without the C library is not heard. The kernel is
//    asked now and then, and where it has more threads than the C library it is asked each time,
//    until it has one.
#pragma once

namespace scute::core::interpose {

// In the first constructor.
void find_threads_of_libc() noexcept;
// In a child of fork(), on its only thread.
void forget_threads_of_parent() noexcept;
// In a critical section, before the first question; again does nothing.
void watch_threads() noexcept;
// THREADS-3. Any thread.
void threads_come() noexcept;
// A thread is about to be made that shares the memory and is none of this process's, or may be. Any
// thread.
void threads_come_unintercepted() noexcept;
// Any thread; async-signal-safe. Mostly without a system call.
bool has_one_thread() noexcept;
// As it was said by has_one_thread(), as far as this process's memory tells; false where it does
// not tell. Without a system call.
bool has_still_one_thread() noexcept;
// By the kernel's number, so many threads of the program's are there, or fewer; false where that is
// not known. A main thread that has ended is there.
bool kernel_has_at_most(unsigned threads) noexcept;
// The C library's number is known.
bool libc_counts_threads() noexcept;
// By it, so many threads of the program's have not ended: more than these. Any thread.
bool libc_counts_more_than(unsigned threads) noexcept;

}  // namespace scute::core::interpose
