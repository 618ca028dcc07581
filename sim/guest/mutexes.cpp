// SPDX-License-Identifier: BSD-3-Clause
// The mutexes of the C library, and the system call that std::barrier and waits for atomics use,
// for fibers: the dynamic linker finds these first. Outside of fibers they are the library's own.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>

#include "guest/fibers.hpp"

namespace {

using call = int (*)(pthread_mutex_t*);

call library(const char* name) {
  return reinterpret_cast<call>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  static const call real = library("pthread_mutex_lock");
  if (!scute::sim::in_fibers()) return real(m);
  scute::sim::fiber_lock(m);
  return 0;
}

__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  static const call real = library("pthread_mutex_trylock");
  if (!scute::sim::in_fibers()) return real(m);
  return scute::sim::fiber_try_lock(m) ? 0 : 16;  // EBUSY
}

__attribute__((visibility("default"))) int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  static const call real = library("pthread_mutex_unlock");
  if (!scute::sim::in_fibers()) return real(m);
  scute::sim::fiber_unlock(m);
  return 0;
}

__attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  using system_call = long (*)(long, ...);
  static const auto real = reinterpret_cast<system_call>(::dlsym(RTLD_NEXT, "syscall"));
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (long& each : a) each = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_futex && scute::sim::in_fibers()) {
    const int* const word = reinterpret_cast<const int*>(a[0]);
    const int what = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
    if (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET) {
      if (scute::sim::fiber_sleep(word, static_cast<int>(a[2]))) return 0;
      errno = EAGAIN;
      return -1;
    }
    if (what == FUTEX_WAKE || what == FUTEX_WAKE_BITSET) {
      scute::sim::fiber_wake(word);
      return 0;
    }
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}
