// SPDX-License-Identifier: BSD-3-Clause
#include "capi/thread_state.hpp"

#include <pthread.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <new>

namespace scute {
namespace {

constinit thread_local thread_state state_of_this_thread;

std::atomic<uint32_t> next_ordinal{0};

// Holders in use and free; never destroyed, since pools may outlive threads and statics.
struct holder_store {
  std::mutex mutex;
  std::deque<lease_holder> all;
  lease_holder* unused = nullptr;
};
holder_store& holders() {
  static auto* store = new holder_store();
  return *store;
}

lease_holder* take_holder() {
  holder_store& h = holders();
  const std::lock_guard hold(h.mutex);
  if (h.unused == nullptr) return &h.all.emplace_back();
  lease_holder* one = h.unused;
  h.unused = one->next;
  return one;
}

void give_holder(lease_holder* one) noexcept {
  holder_store& h = holders();
  const std::lock_guard hold(h.mutex);
  one->next = h.unused;
  h.unused = one;
}

// Called by pthreads when a thread ends. A thread that ends inside a transaction keeps its lane for
// ever: nobody can tell what it did.
void thread_ends(void* holder) {
  auto* one = static_cast<lease_holder*>(holder);
  state_of_this_thread.holder = nullptr;
  if (!one->active.load(std::memory_order_relaxed)) give_holder(one);
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (::pthread_key_create(&made, &thread_ends) != 0) throw std::bad_alloc();
    return made;
  }();
  return key;
}

}  // namespace

void thread_state::join() {
  const pthread_key_t key = end_key();
  lease_holder* one = take_holder();
  if (::pthread_setspecific(key, one) != 0) {
    give_holder(one);
    throw std::bad_alloc();
  }
  holder = one;
  ordinal = next_ordinal.fetch_add(1, std::memory_order_relaxed);
}

void thread_state::set_message(const char* text) noexcept {
  const size_t n = std::strlen(text);
  if (n < message_size) {
    std::memcpy(message, text, n + 1);
    return;
  }
  std::memcpy(message, text, message_size - 4);
  std::memcpy(message + message_size - 4, "...", 4);
}

pool_life* new_pool_life() {
  static std::mutex mutex;
  static auto* all = new std::deque<pool_life>();  // never freed: threads may outlive statics
  const std::lock_guard hold(mutex);
  return &all->emplace_back();
}

thread_state& this_thread() noexcept {
  return state_of_this_thread;
}

}  // namespace scute
