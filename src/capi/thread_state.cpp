// SPDX-License-Identifier: BSD-3-Clause
#include "capi/thread_state.hpp"

#include <atomic>

namespace scute {
namespace {

std::atomic<uint32_t> next_ordinal{0};

}  // namespace

thread_state::thread_state() : ordinal(next_ordinal.fetch_add(1, std::memory_order_relaxed)) {}

thread_state& this_thread() noexcept {
  thread_local thread_state state;
  return state;
}

}  // namespace scute
