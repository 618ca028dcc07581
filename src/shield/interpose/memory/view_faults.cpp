// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/view_faults.hpp"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "base/process/library_thread.hpp"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/signals/signals_wait.hpp"
#include "shield/interpose/stores/store_guard.hpp"

namespace scute::core::interpose {
namespace {

constinit userfault faults;
std::atomic<userfault*> begun{nullptr};
int refused = 0;
std::atomic<bool> is_served{false};

void* serve(void*) {
  const library_thread here;
  for (bool more = false;;) {
    const auto [at, stores, is_over] = faults.next(!more);
    if (is_over) return nullptr;
    if (at != 0) stores ? let_store_go_on(faults, at) : load_touched(faults, at);
    more = let_pages_go();
  }
}

// Starts the thread. Returns 0, or the error.
int begin_to_serve() noexcept {
  if (is_served.exchange(true)) return 0;
  const signals_wait quiet;  // the thread takes none of the program's signals
  pthread_t server{};
  const int why = ::pthread_create(&server, nullptr, &serve, nullptr);
  if (why == 0) ::pthread_detach(server);
  is_served.store(why == 0);
  return why;
}

}  // namespace

userfault* begin_faults(bool pages) noexcept {
  if (begun.load() == nullptr && refused == 0) {
    refused = faults.open() ? 0 : errno;
    if (refused == 0) begun.store(&faults);
    if (refused == EMFILE || refused == ENFILE || refused == ENOMEM) {  // later there may be some
      errno = std::exchange(refused, 0);
      return nullptr;
    }
  }
  const int why = refused == 0 && pages && !is_served ? begin_to_serve() : refused;
  if (why == 0) return begun.load();
  errno = why;
  return nullptr;
}

bool begin_to_look_after() noexcept {
  return begun.load() == nullptr || is_served || begin_to_serve() == 0;
}

userfault* view_faults() noexcept {
  return begun.load(std::memory_order_acquire);
}

void forget_faults() noexcept {
  faults.forget();
  begun.store(nullptr);
  refused = 0;
  is_served = false;
}

}  // namespace scute::core::interpose
