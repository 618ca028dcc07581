// SPDX-License-Identifier: BSD-3-Clause
// The program gets no threads besides those that are simulated. The emulator is some fifty times
// slower than the machine that it stands for, and a background thread of the library's, which goes
// by the clock, would do fifty times the work between two transactions, unseen by the model.
// Without one the library does that work when a transaction needs it done, or when it is asked to:
// on the core.
#include <pthread.h>

#include <cerrno>

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t*,
                                                                     const pthread_attr_t*,
                                                                     void* (*)(void*),
                                                                     void*) noexcept {
  return EAGAIN;
}
