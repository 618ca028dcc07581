// SPDX-License-Identifier: BSD-3-Clause
#include "base/process/thread_block.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>

namespace scute::core {
namespace {

struct reserve_block {
  std::atomic<bool> taken{false};
  thread_block block{};
};
constinit std::array<reserve_block, 16> reserve{};

thread_block* take_from_reserve() noexcept {
  for (reserve_block& r : reserve)
    if (!r.taken.exchange(true, std::memory_order_acquire)) return &r.block;
  return nullptr;
}

void give_back(thread_block* one) noexcept {
  std::free(one->message_room);
  for (reserve_block& r : reserve)
    if (one == &r.block) {
      r.block = {};
      r.taken.store(false, std::memory_order_release);
      return;
    }
  delete one;
}

// Called by pthreads when a thread ends: it returns, calls pthread_exit(), or is cancelled.
void thread_ends(void* of_thread) {
  auto* const one = static_cast<thread_block*>(of_thread);
  // The destructor of another key may have called the library before. Functions that at_end calls
  // must find this block.
  this_thread_block = one;
  if (one->at_end != nullptr) one->at_end();
  this_thread_block = nullptr;
  give_back(one);
}

bool watch_end(thread_block* one) noexcept {
  struct end_key {
    pthread_key_t key{};
    bool made = ::pthread_key_create(&key, &thread_ends) == 0;
  };
  static const end_key end;
  return end.made && ::pthread_setspecific(end.key, one) == 0;
}

}  // namespace

thread_block& make_thread_block() noexcept {
  const int keep = errno;
  auto* one = new (std::nothrow) thread_block{};
  if (one == nullptr) one = take_from_reserve();
  if (one == nullptr) std::terminate();
  one->end_is_watched = watch_end(one);
  this_thread_block = one;
  errno = keep;
  return *one;
}

void require_end_of_thread(thread_block& mine) {
  if (mine.end_is_watched) return;
  if (!watch_end(&mine)) throw std::bad_alloc();
  mine.end_is_watched = true;
}

}  // namespace scute::core
