// SPDX-License-Identifier: BSD-3-Clause
// Functions that hooks call: general registers only (HOOK-7).
#include "shield/audit/report_clock.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace scute::core::audit {
namespace {

struct alignas(64) thread_slot {
  std::atomic<pid_t> thread{0};
  std::atomic<uint64_t> since{0};  // 0: not in flight
};

constexpr unsigned slots_max = 512;
constexpr uint64_t all_time = 1,
                   // commit sets before it is checked whether a thread in flight has ended
    patience = 256;
std::array<thread_slot, slots_max> slots;
// Nonzero once a thread got no slot; such threads count as in flight for ever.
std::atomic<uint64_t> without_slot{0};
std::atomic<unsigned> slots_used{0};
std::atomic<uint64_t> clock_now{report_clock::begin};

[[gnu::tls_model("initial-exec")]] thread_local constinit thread_slot* mine = nullptr;

bool is_gone(pid_t thread) noexcept {
  const int keep = errno;
  const bool gone = ::tgkill(::getpid(), thread, 0) != 0 && errno == ESRCH;
  errno = keep;
  return gone;
}

// Gives the slot to the calling thread if it belongs to `whose`.
bool take(unsigned i, pid_t whose, pid_t me) noexcept {
  if (!slots[i].thread.compare_exchange_strong(whose, me)) return false;
  slots[i].since.store(0);
  unsigned used = slots_used.load();
  while (used <= i && !slots_used.compare_exchange_weak(used, i + 1)) {
  }
  return true;
}

thread_slot* take_slot() noexcept {
  const pid_t me = ::gettid();
  for (unsigned i = 0; i < slots_max; ++i)
    if (take(i, 0, me)) return &slots[i];
  for (unsigned i = 0; i < slots_max; ++i)
    if (const pid_t thread = slots[i].thread.load(); is_gone(thread) && take(i, thread, me))
      return &slots[i];
  without_slot.store(1);
  return nullptr;
}

// An interrupting handler may have got a slot for the thread already.
void occupy() noexcept {
  thread_slot* const taken = take_slot();
  if (mine == nullptr)
    mine = taken;
  else if (taken != nullptr)
    taken->thread.store(0);
}

// CLOCK-3
bool has_ended(thread_slot& s, uint64_t since) noexcept {
  const pid_t thread = s.thread.load();
  return thread != 0 && is_gone(thread) && s.since.compare_exchange_strong(since, 0);
}

}  // namespace

uint64_t report_clock::report() noexcept {
  if (mine == nullptr) occupy();
  if (mine == nullptr) return clock_now.load();
  // CLOCK-1: the mark is there before the clock is read again.
  if (mine->since.load(std::memory_order_relaxed) == 0) mine->since.store(clock_now.load());
  return clock_now.load();
}

bool report_clock::in_flight() noexcept {
  return mine != nullptr && mine->since.load(std::memory_order_relaxed) != 0;
}

void report_clock::fence() noexcept {
  if (in_flight()) mine->since.store(0, std::memory_order_release);
}

void report_clock::become_child() noexcept {
  for (thread_slot& s : slots) {
    s.since.store(0);
    s.thread.store(0);
  }
  mine = nullptr;
}

uint64_t report_clock::next_commit_set() noexcept {
  return clock_now.fetch_add(1) + 1;
}

uint64_t report_clock::copied_at(uint64_t commit_set) noexcept {
  if (without_slot.load() != 0) return all_time;
  uint64_t oldest = commit_set;
  const unsigned used = slots_used.load();
  for (unsigned i = 0; i < used; ++i) {
    const uint64_t since = slots[i].since.load();
    if (since == 0 || (commit_set > since + patience && has_ended(slots[i], since))) continue;
    oldest = std::min(oldest, since);
  }
  return oldest;
}

}  // namespace scute::core::audit
