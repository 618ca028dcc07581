// SPDX-License-Identifier: BSD-3-Clause
// Assigns slots to threads (pow/state.hpp).
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <chrono>

#include "base/process/uncancelled.hpp"
#include "pow/sections/thread_part.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {
namespace {

uint64_t number_of(thread_part& thread) noexcept {
  static std::atomic<uint64_t> last{0};
  if (thread.number == 0) thread.number = ++last;
  return thread.number;
}

bool is_gone(pid_t thread) noexcept {
  const int keep = errno;
  const bool gone = ::tgkill(::getpid(), thread, 0) != 0 && errno == ESRCH;
  errno = keep;
  return gone;
}

// Whether its thread has ended, as far as the system says. (Another thread that has got its number
// hides that.)
bool is_orphan(const thread_slot& s) noexcept {
  const pid_t thread = s.task.load(std::memory_order_relaxed);
  return thread != 0 && is_gone(thread);
}

bool take(thread_slot& s) noexcept {
  return !s.busy.load(std::memory_order_relaxed) &&
         !s.busy.exchange(true, std::memory_order_acquire);
}

}  // namespace

void prefer_slot(uint32_t number) noexcept {
  part_of_this_thread().wanted_slot = number;
}

thread_slot& state::take_slot() {
  thread_slot& s = find_slot();
  if (s.is_ready) return s;
  try {
    static_cast<void>(lane_of(s));
    static_cast<void>(writer_of(s));
    s.is_ready = true;
  } catch (...) {
    leave_slot(s);
    throw;
  }
  return s;
}

void state::leave_wanted_slot(thread_slot& s) noexcept {
  const locked guard(slots_lock_);
  s.busy.store(false, std::memory_order_release);
  slot_left_.notify_one();
}

bool state::is_in_use() noexcept {
  for (const thread_slot& s : slots_)
    if (s.busy.load(std::memory_order_acquire)) return true;
  const locked guard(slots_lock_);  // leave_wanted_slot() has ended
  return false;
}

// The slot that this thread had last. Only this thread may name the batches that it has seen, so
// this waits while end_idle_segments() uses the slot. Null: the thread has no slot any more.
inline thread_slot* state::own_slot() noexcept {
  thread_part& mine = part_of_this_thread();
  const uint32_t wanted_slot = mine.wanted_slot, last = mine.last_slot;
  const uint64_t me = number_of(mine);
  if (wanted_slot != 0) {
    for (unsigned spins = 0; !take(slots_[wanted_slot]);) spin_pause(spins);
    slots_[wanted_slot].thread.store(me, std::memory_order_relaxed);
    return &slots_[wanted_slot];
  }
  if (last != 0 && take(slots_[last])) {
    if (slots_[last].thread.load(std::memory_order_relaxed) == me) return &slots_[last];
    leave_slot(slots_[last]);
  }
  return own_slot_elsewhere(me);
}

// The thread may have another slot at this store.
thread_slot* state::own_slot_elsewhere(uint64_t me) noexcept {
  const auto is_mine = [&](uint32_t i) {
    return slots_[i].thread.load(std::memory_order_relaxed) == me;
  };
  for (uint32_t i = 1; i < lanes_max; ++i)
    for (unsigned spins = 0; is_mine(i);) {
      if (!take(slots_[i])) {
        spin_pause(spins);
        continue;
      }
      if (is_mine(i)) {
        part_of_this_thread().last_slot = i;
        return &slots_[i];
      }
      leave_slot(slots_[i]);  // another thread's by now
    }
  return nullptr;
}

thread_slot& state::find_slot() {
  if (read_only)
    throw failure(SCUTE_E_READONLY, name + " is open read-only, so nothing in it can be changed");
  // A pause would wait for ever for slots that are taken again at once. (A section inside another
  // one does not wait here, since the pause waits for the outer one.)
  if (pauses_.load(std::memory_order_relaxed) != 0 && part_of_this_thread().newest == nullptr)
      [[unlikely]]
    for (unsigned spins = 0; pauses_.load(std::memory_order_relaxed) != 0;) spin_pause(spins);
  if (thread_slot* const mine = own_slot()) [[likely]]
    return *mine;
  return wait_for_slot();
}

thread_slot& state::wait_for_slot() {
  const uncancelled now;
  for (;;) {
    if (thread_slot* const s = other_slot()) return *s;
    if (this_thread_waits.call != nullptr) {
      this_thread_waits.call(this_thread_waits.arg);
      continue;
    }
    const locked guard(slots_lock_);
    slots_wanted_.fetch_add(1);
    // A thread that leaves at this moment may not have seen that another one waits.
    slot_left_.wait_for(slots_lock_, std::chrono::milliseconds(5));
    slots_wanted_.fetch_sub(1);
  }
}

// Finds a slot that becomes this thread's; null: all are busy. First the slot of a thread that has
// ended, so that threads that come and go do not leave a lane and its open segment each; then one
// that no thread has had; then any other.
thread_slot* state::other_slot() {
  uint32_t unused = 1;
  while (unused < lanes_max && slots_[unused].thread.load(std::memory_order_relaxed) != 0) ++unused;
  for (uint32_t i = 1; unused < lanes_max && i < unused; ++i) {
    if (!is_orphan(slots_[i]) || !take(slots_[i])) continue;
    if (is_orphan(slots_[i])) return &occupy(i);
    leave_slot(slots_[i]);
  }
  for (uint32_t i = unused; i < lanes_max; ++i) {
    if (slots_[i].thread.load(std::memory_order_relaxed) != 0 || !take(slots_[i])) continue;
    if (slots_[i].thread.load(std::memory_order_relaxed) == 0) return &occupy(i);
    leave_slot(slots_[i]);
  }
  for (uint32_t i = 1; i < lanes_max; ++i)
    if (take(slots_[i])) return &occupy(i);
  return nullptr;
}

// Makes a taken slot this thread's.
thread_slot& state::occupy(uint32_t i) {
  thread_slot& s = slots_[i];
  // Batches that the slot's thread has seen must be durable, since that thread will use another
  // slot. If that thread has ended, this one continues as if it had seen them.
  if (!s.seen.empty() && !is_orphan(s)) {
    try {
      sync(writer_of(s));
    } catch (...) {
      leave_slot(s);
      throw;
    }
    s.seen.clear();
  }
  s.task.store(::gettid(), std::memory_order_relaxed);
  thread_part& mine = part_of_this_thread();
  s.thread.store(number_of(mine), std::memory_order_relaxed);
  mine.last_slot = i;
  return s;
}

state::pause::pause(state& s) : s_(s) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds longest{3};
  s.pauses_.fetch_add(1);
  if (s.read_only) return;
  const auto until = clock::now() + longest;
  for (unsigned spins = 0; taken_ < lanes_max;) {
    if (take(s.slots_[taken_])) {
      ++taken_;
      continue;
    }
    spin_pause(spins);
    if (clock::now() < until) continue;
    const pause those(s, taken_);  // it releases them
    throw failure(SCUTE_E_BUSY,
                  "sections of " + s.name +
                      " are open and do not end; end them, and do not hold a lock that one of them "
                      "may wait for");
  }
}

state::pause::~pause() {
  s_.pauses_.fetch_sub(1);
  while (taken_ > 1) s_.leave_slot(s_.slots_[--taken_]);
}

void state::sync_outside() {
  thread_slot* const mine = own_slot();
  if (mine == nullptr) {
    medium::writer w(*medium);
    return sync(w);
  }
  try {
    sync(writer_of(*mine));
  } catch (...) {
    leave_slot(*mine);
    throw;
  }
  leave_slot(*mine);
}

bool state::end_idle_segments(idle which) {
  if (limit.one_stream) {
    lane* const l = find_lane(stream_lane);
    if (l == nullptr || which == idle::orphans) return false;
    const locked alone(stream_lock);
    l->end_segment_durably();
    return true;
  }
  bool any = false;
  for (uint32_t i = 1; i < lanes_max; ++i) {
    lane* const l = find_lane(i);
    thread_slot& s = slots_[i];
    if (l == nullptr || (which == idle::orphans && !is_orphan(s)) || !take(s)) continue;
    if (l->segment() != nowhere && (which == idle::any || is_orphan(s))) {
      l->end_segment_durably();
      any = true;
    }
    leave_slot(s);
  }
  return any;
}

}  // namespace scute::core::pow
