// SPDX-License-Identifier: BSD-3-Clause
#include "capi/thread_state.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace scute {
namespace {

std::atomic<uint32_t> next_ordinal{0};

}  // namespace

thread_state::thread_state() : ordinal(next_ordinal.fetch_add(1, std::memory_order_relaxed)) {}

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
