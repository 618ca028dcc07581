// SPDX-License-Identifier: BSD-3-Clause
// Ends the process with the last thread of its program.
//
// LAST-1 When the last thread of the program has ended, in whatever way (pthread_exit() of the main
//    one, a return, a cancellation), the process ends as by exit(0). The C library would do that,
//    but it also counts the runtime's threads. So a thread of the runtime does it.
// LAST-2 That thread is not one of the program's either: it takes no signals until it calls exit(),
//    and a thread that joins the main thread waits only for the main thread's end.
// LAST-3 A main thread that has ended stays in the process without descriptors and memory. So
//    questions to the kernel by numbers and in /proc are about the calling thread
//    (/proc/thread-self, gettid()), not about the process.
//
// About LAST-1: the runtime's thread compares the C library's count with the number of the
// runtime's threads, and calls exit(). It starts when the main thread ends by itself: before that
// no other thread can be the last. The C library continues to count threads that end by
// syscall(SYS_exit), and then calls no exit(). So the kernel is asked too, and the process ends
// with the status of its last thread (exit_group()).
#pragma once

namespace scute::core::interpose {

// The calling thread of this process is about to end by a system call, which is not intercepted.
// Returns true if it is the last one, and the process must end with it. Not in a critical section.
bool ends_process() noexcept;
// On the main thread, in the first constructor.
void watch_main_thread() noexcept;
// In a child of fork(), on its only thread: it is the main one, and the runtime's threads are its
// parent's (THREADS-2).
void main_thread_of_child() noexcept;

}  // namespace scute::core::interpose
