// SPDX-License-Identifier: BSD-3-Clause
// The end of a process with the last thread of its program.
//
// LAST-1 When the last thread of the program has ended, however it has (pthread_exit() of the main
//    one, a return, a cancellation), the process ends as by exit(0): the C library would do that,
//    but counts the runtime's threads as well. So a thread of the runtime's looks at that count,
//    less its own threads, and calls exit(). It begins when the main thread ends by itself: before
//    that no other can be the last. Threads that end by syscall(SYS_exit) the C library continues
//    to count, and calls no exit() then: so the kernel is asked as well, and the process ends with
//    the status of its last thread (exit_group()).
// LAST-2 That thread, too, is no thread of the program's: it takes no signals until it calls
//        exit(), and a thread that waits for the main thread to end waits for nothing else.
// LAST-3 A main thread that has ended is left in the process without descriptors and memory. So
//    what is asked of the kernel by numbers and in /proc is asked of the calling thread
//    (/proc/thread-self, gettid()), not of the process.
#pragma once

namespace scute::core::interpose {

// Of this process, the calling thread is about to end by a system call, which is not intercepted.
// True: it is the last one, and the process is to end with it. In no critical section.
bool ends_process() noexcept;
// On the main thread, in the first constructor.
void watch_main_thread() noexcept;
// In a child of fork(), on its only thread: it is the main one, and the runtime's threads are its
// parent's (THREADS-2).
void main_thread_of_child() noexcept;

}  // namespace scute::core::interpose
