// SPDX-License-Identifier: BSD-3-Clause
// The mutexes of the C library, for fibers: the dynamic linker finds these first. Outside of fibers they are the
// library's own.
#include <dlfcn.h>
#include <pthread.h>

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
}
