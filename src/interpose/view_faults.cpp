// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/view_faults.hpp"

#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "interpose/page_in.hpp"
#include "interpose/page_out.hpp"

namespace scute::core::interpose {
namespace {

userfault& faults = *new userfault;  // to the end of the process
std::atomic<userfault*> begun{nullptr};
int refused = 0;

void* serve(void*) {
  for (bool more = false;;) {
    if (const uintptr_t at = faults.next(!more); at != 0) load_touched(faults, at);
    more = let_pages_go();
  }
}

// 0, or the error that says why not.
int begin() noexcept {
  if (!faults.open()) return errno;
  pthread_t server{};
  const int why = ::pthread_create(&server, nullptr, &serve, nullptr);
  if (why == 0)
    ::pthread_detach(server);
  else
    faults.forget();
  return why;
}

}  // namespace

userfault* begin_faults() noexcept {
  if (begun.load() == nullptr && refused == 0) {
    refused = begin();
    if (refused == 0) begun.store(&faults);
  }
  errno = refused;
  return begun.load();
}

userfault* view_faults() noexcept {
  return begun.load(std::memory_order_acquire);
}

void forget_faults() noexcept {
  faults.forget();
  begun.store(nullptr);
  refused = 0;
}

}  // namespace scute::core::interpose
