// SPDX-License-Identifier: BSD-3-Clause
// The function that a program would have called without us: the next one of that name. It is looked
// up at its first use; if a signal handler may call it, before main() (look_up_early in
// next_calls.cpp).
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "shield/interpose/libraries/stand_in.hpp"

namespace scute::core::interpose {

template <class F>
class next_call {
 public:
  // library: searched if no globally visible library has the function (one that was opened as a
  // plug-in); it stays in the process.
  consteval explicit next_call(const char* name, const char* library = nullptr)
      : name_(name), library_(library) {}

  F* get() const noexcept {
    F* f = at_.load(std::memory_order_relaxed);
    return f != nullptr ? f : find();
  }
  template <class... A>
  auto operator()(A... a) const {
    return get()(a...);
  }

 private:
  F* find() const noexcept {
    void* f = ::dlsym(RTLD_NEXT, name_);
    if (library_ != nullptr) {
      // It is in the process already, or it could not have been called. The handle keeps it there,
      // even if another closes it.
      void* const handle = ::dlopen(library_, RTLD_LAZY | RTLD_NOLOAD);
      if (handle == nullptr)
        ::dlerror();  // it is no error of the program's
      else if (f == nullptr)
        f = ::dlsym(handle, name_);
    }
    at_.store(reinterpret_cast<F*>(f), std::memory_order_relaxed);
    return reinterpret_cast<F*>(f);
  }

  const char* name_;
  const char* library_;
  mutable std::atomic<F*> at_{nullptr};
};

}  // namespace scute::core::interpose

// SCUTE_INTERPOSED(int, close, (int fd)) { ... }: the function that programs call by that name. Its
// name in C++ is another, so that it need not agree with what the C library's headers say about
// exceptions and attributes, and so that no other file calls it by mistake.
#define SCUTE_INTERPOSED(type, name, parameters)                                              \
  extern "C" [[gnu::visibility("default")]] type interposed_##name parameters __asm__(#name); \
  SCUTE_STANDS_IN(name);                                                                      \
  extern "C" type interposed_##name parameters
// A second name of the same function.
#define SCUTE_INTERPOSED_ALIAS(type, second, name, parameters)                           \
  extern "C" [[gnu::visibility("default"),                                               \
               gnu::alias(#name)]] type interposed_##second parameters __asm__(#second); \
  SCUTE_STANDS_IN(second)
