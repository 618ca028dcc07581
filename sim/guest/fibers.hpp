// SPDX-License-Identifier: BSD-3-Clause
// The threads of a program on the simulated machine: fibers of one thread, each on a core of its
// own. They change places at locks and barriers only, so that runs repeat exactly; the front end
// says whose turn it is. While fibers run, the program's mutexes and futexes are theirs
// (guest/mutexes.cpp): no fiber sleeps in the system.
#pragma once

#include <functional>

namespace scute::sim {

// Runs body(0) .. body(n-1), n up to 2, each on its core. An exception that leaves one is thrown on
// when all are over.
void run_fibers(unsigned n, const std::function<void(unsigned)>& body);

// True inside of run_fibers().
bool in_fibers() noexcept;
// Takes and gives back a lock, known by its address.
void fiber_lock(const void* lock);
bool fiber_try_lock(const void* lock);
void fiber_unlock(const void* lock);
// Sleeps until the word has another value, if it has that one: returns false if it has not. The
// fiber that changes it wakes the others.
bool fiber_sleep(const int* word, int value);
void fiber_wake(const int* word);

}  // namespace scute::sim
