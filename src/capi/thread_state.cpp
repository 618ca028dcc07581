// SPDX-License-Identifier: BSD-3-Clause
#include "capi/thread_state.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace scute {
namespace {

std::atomic<uint32_t> next_ordinal{0};

// Holders in use and free; never destroyed, since pools may outlive threads and statics.
struct holder_store {
  std::mutex mutex;
  std::deque<lease_holder> all;
  std::deque<lease_holder*> unused;
};
holder_store& holders() {
  static auto* store = new holder_store();
  return *store;
}

lease_holder* take_holder() {
  holder_store& h = holders();
  const std::lock_guard hold(h.mutex);
  if (h.unused.empty()) return &h.all.emplace_back();
  lease_holder* one = h.unused.back();
  h.unused.pop_back();
  return one;
}

}  // namespace

thread_state::thread_state()
    : ordinal(next_ordinal.fetch_add(1, std::memory_order_relaxed)), holder(take_holder()) {}

thread_state::~thread_state() {
  // A thread that ends inside a transaction keeps its lane for ever: nobody can tell what it did.
  if (holder->active.load(std::memory_order_relaxed)) return;
  holder_store& h = holders();
  const std::lock_guard hold(h.mutex);
  h.unused.push_back(holder);
}

pool_life* new_pool_life() {
  static std::mutex mutex;
  static auto* all = new std::deque<pool_life>();  // never freed: threads may outlive statics
  const std::lock_guard hold(mutex);
  return &all->emplace_back();
}

thread_state& this_thread() noexcept {
  thread_local thread_state state;
  return state;
}

}  // namespace scute
