// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether the program has one thread.
//
// THREADS-1 The answer yes stays true as long as the calling thread makes no other one. The C
//    library says so, or its count of the process's threads, or the kernel's, is one more than the
//    library's own threads. Only clone() can make a thread outside of this count; once it may have,
//    the answer stays no.
// THREADS-2 A child of fork() has none of its parent's library threads, and its own folder of
//    threads in /proc, in which the kernel is asked.
// THREADS-3 A thread that ends may take a signal after the C library has ceased to count it. So
//    once the program may have had a second thread (it has called pthread_create() or
//    thrd_create(), or the C library has counted one), the kernel must confirm that there is one.
// THREADS-4 An instruction that makes a thread without the C library is not noticed. The kernel is
//    asked now and then; if it has more threads than the C library, it is asked each time, until it
//    has one.
#pragma once

namespace scute::core::interpose {

// In the first constructor.
void find_threads_of_libc() noexcept;
// In a child of fork(), on its only thread.
void forget_threads_of_parent() noexcept;
// In a critical section, before the first question; further calls do nothing.
void watch_threads() noexcept;
// THREADS-3: the program may get a second thread. Any thread.
void threads_come() noexcept;
// A thread is about to be made that shares the memory and is, or may be, none of this process's.
// Any thread.
void threads_come_unintercepted() noexcept;
// Any thread; async-signal-safe. Mostly without a system call.
bool has_one_thread() noexcept;
// Whether has_one_thread()'s answer still holds, as far as this process's memory says; false if it
// does not say. No system call.
bool has_still_one_thread() noexcept;
// Whether by the kernel's count the program has at most this many threads; false if unknown. A main
// thread that has ended counts.
bool kernel_has_at_most(unsigned threads) noexcept;
// Whether the C library's count is known.
bool libc_counts_threads() noexcept;
// Whether by that count more than this many threads of the program have not ended. Any thread.
bool libc_counts_more_than(unsigned threads) noexcept;

}  // namespace scute::core::interpose
