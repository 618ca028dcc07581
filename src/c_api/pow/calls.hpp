// SPDX-License-Identifier: BSD-3-Clause
// The calls that are inside a store, so that it is closed while no thread is in one.
//
// A store is open, then a thread closes it, and then it is open again or closed for ever. A call on
// a store enters first, and leaves last.
//
// CALLS-1 a thread that closes looks for calls after it has said so, and a call looks for a thread
//   that closes after it has been counted. So one of the two sees the other (all four accesses are
//   sequentially consistent). The call then waits until it is known how the closing ends. So calls
//   that follow each other cannot keep a store open.
// CALLS-2 calls that have a section are not counted. Its slot is busy until its end, and the thread
//   that closes asks for busy slots while no further section can begin. The last access of a
//   section to the store is the one that makes its slot free (state::leave_slot).
// CALLS-3 a handle has one holder as long as its store is open, and one for each
//   scute_pow_keep(). The last one that drops it frees the handle with those of its tables, which
//   cannot be known to be void otherwise.
// CALLS-4 no thread waits for a closing that waits for it: one that is inside a call (it is in a
//   callback), or has a section, enters while the store is being closed. It may end its section
//   inside of the call. So the thread that closes looks for calls before and after it asks for busy
//   slots: before, for those that may begin sections; after, for those of threads that had one.
// CALLS-5 calls that have waited for a closing that gave up are inside before the next one begins.
//   A section may wait for a lock that one of these threads holds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/locks/waiting.hpp"
#include "base/process/thread_block.hpp"

namespace scute::core::c_api {

class store_calls {
 public:
  // A thread is inside of the store while it has one of these. is_open(): false if the store is
  // closed; then it has not entered.
  class call {
   public:
    // has_section(): whether this thread has a section of the store.
    template <typename Fn>
    call(store_calls& of, Fn&& has_section) noexcept
        : of_(of),
          thread_(own_thread_block()),
          outer_(static_cast<const call*>(thread_.store_call)),
          is_open_(of.enter(has_section)) {
      thread_.store_call = this;
    }
    ~call() {
      thread_.store_call = outer_;
      if (is_open_) of_.mine().fetch_sub(1, std::memory_order_release);
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    bool is_open() const noexcept { return is_open_; }

   private:
    friend store_calls;
    store_calls& of_;
    thread_block& thread_;
    const call* const outer_;
    const bool is_open_;
  };

  bool is_closed() const noexcept {
    return phase_.load(std::memory_order_acquire) == phase::closed;
  }
  // Closes as soon as no thread is in a call, and is_unused() says that no object of it is in use.
  // Gives up when is_late() says so. One thread at a time.
  enum class outcome : uint8_t { closed, calls, objects };
  template <typename Unused, typename Late>
  outcome close(Unused&& is_unused, Late&& is_late) noexcept {
    for (unsigned turns = 0; waiting_.load() != 0;) spin_pause(turns);
    phase_.store(phase::closing);
    for (unsigned turns = 0;; spin_pause(turns)) {
      outcome now = outcome::calls;
      if (!any_inside())
        now = !is_unused() ? outcome::objects : any_inside() ? outcome::calls : outcome::closed;
      if (now != outcome::closed && !is_late()) continue;
      phase_.store(now == outcome::closed ? phase::closed : phase::open);
      return now;
    }
  }

 private:
  enum class phase : uint8_t { open, closing, closed };
  // Threads on different cores rarely share a counter.
  struct alignas(64) counter {
    std::atomic<uint32_t> calls{0};
  };
  static constexpr unsigned counters_log2 = 4;

  template <typename Fn>
  bool enter(Fn&& has_section) noexcept {
    mine().fetch_add(1);
    if (phase_.load() == phase::open) [[likely]]
      return true;
    if (is_inside() || has_section()) return true;
    waiting_.fetch_add(1);
    const bool entered = enter_after_closing();
    waiting_.fetch_sub(1);
    return entered;
  }
  // The thread is counted, but not as one that is inside.
  bool enter_after_closing() noexcept {
    for (unsigned turns = 0;;) {
      const phase now = phase_.load();
      if (now == phase::open) return true;
      mine().fetch_sub(1, std::memory_order_release);
      if (now == phase::closed) return false;
      while (phase_.load() == phase::closing) spin_pause(turns);
      mine().fetch_add(1);
    }
  }
  bool is_inside() const noexcept {
    const auto* c = static_cast<const call*>(own_thread_block().store_call);
    while (c != nullptr && (&c->of_ != this || !c->is_open_)) c = c->outer_;
    return c != nullptr;
  }
  bool any_inside() const noexcept {
    for (const counter& c : in_)
      if (c.calls.load() != 0) return true;
    return false;
  }

  std::atomic<uint32_t>& mine() noexcept {
    const auto thread = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
    const uint64_t mixed = (thread >> 6) * 0x9e3779b97f4a7c15ULL;
    return in_[mixed >> (64 - counters_log2)].calls;
  }

  std::atomic<phase> phase_{phase::open};
  std::atomic<uint32_t> waiting_{0};  // calls that wait for a closing to end
  std::array<counter, size_t{1} << counters_log2> in_;
};

}  // namespace scute::core::c_api
