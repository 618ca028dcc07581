// SPDX-License-Identifier: BSD-3-Clause
// The calls that are inside a store, so that it is closed while no thread is in one.
//
// A store is open, then it is being closed for a moment, and then it is open again or closed for
// ever. A call on a store enters first, and leaves last.
//
// CALLS-1 a thread that closes looks for calls after it has said so, and a call looks for a thread
//   that closes after it has been counted. So one of the two sees the other (all four accesses are
//   sequentially consistent). The call then waits until it is known how the closing ends; the
//   thread that closes gives up, and tries again.
// CALLS-2 calls that have a section are not counted. Its slot is busy until its end, and the thread
//   that closes asks for busy slots while no further section can begin. The last access of a
//   section to the store is the one that makes its slot free (state::leave_slot).
// CALLS-3 a handle has one holder as long as its store is open, and one for each
//   scute_pow_keep(). The last one that drops it frees the handle with those of its tables, which
//   cannot be known to be void otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/locks/waiting.hpp"

namespace scute::core::c_api {

class store_calls {
 public:
  // False: it is closed.
  bool enter() noexcept {
    std::atomic<uint32_t>& in = mine();
    for (unsigned turns = 0;; spin_pause(turns)) {
      in.fetch_add(1);
      const phase now = phase_.load();
      if (now == phase::open) [[likely]]
        return true;
      in.fetch_sub(1, std::memory_order_release);
      if (now == phase::closed) return false;
    }
  }
  void leave() noexcept { mine().fetch_sub(1, std::memory_order_release); }

  bool is_closed() const noexcept {
    return phase_.load(std::memory_order_acquire) == phase::closed;
  }
  // Closes if no thread is in a call, and is_unused() says that no object of it is in use. One
  // thread at a time.
  template <typename Fn>
  bool close(Fn&& is_unused) noexcept {
    phase_.store(phase::closing);
    for (const counter& c : in_) {
      if (c.calls.load() == 0) continue;
      phase_.store(phase::open);
      return false;
    }
    const bool unused = is_unused();
    phase_.store(unused ? phase::closed : phase::open);
    return unused;
  }

 private:
  enum class phase : uint8_t { open, closing, closed };
  // Threads on different cores rarely share a counter.
  struct alignas(64) counter {
    std::atomic<uint32_t> calls{0};
  };
  static constexpr unsigned counters_log2 = 4;

  std::atomic<uint32_t>& mine() noexcept {
    const auto thread = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
    const uint64_t mixed = (thread >> 6) * 0x9e3779b97f4a7c15ULL;
    return in_[mixed >> (64 - counters_log2)].calls;
  }

  std::atomic<phase> phase_{phase::open};
  std::array<counter, size_t{1} << counters_log2> in_;
};

}  // namespace scute::core::c_api
