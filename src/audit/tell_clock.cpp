// SPDX-License-Identifier: BSD-3-Clause
// What hooks call: general registers only (HOOK-7).
#include "audit/tell_clock.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace scute::core::audit {
namespace {

struct alignas(64) seat {
  std::atomic<pid_t> thread{0};
  std::atomic<uint64_t> since{0};  // 0: not in flight
};

constexpr unsigned seats_max = 512;
constexpr uint64_t all_time = 1,
                   patience = 256;  // commit sets until a thread in flight is looked for
std::array<seat, seats_max> seats;
// Threads that got none are in flight for ever.
std::atomic<uint64_t> seatless{0};
std::atomic<unsigned> seats_used{0};
std::atomic<uint64_t> clock_now{tell_clock::begin};

[[gnu::tls_model("initial-exec")]] thread_local constinit seat* mine = nullptr;

bool is_gone(pid_t thread) noexcept {
  const int keep = errno;
  const bool gone = ::tgkill(::getpid(), thread, 0) != 0 && errno == ESRCH;
  errno = keep;
  return gone;
}

// The calling thread's from now on, if it is `whose`.
bool take(unsigned i, pid_t whose, pid_t me) noexcept {
  if (!seats[i].thread.compare_exchange_strong(whose, me)) return false;
  seats[i].since.store(0);
  unsigned used = seats_used.load();
  while (used <= i && !seats_used.compare_exchange_weak(used, i + 1)) {
  }
  return true;
}

seat* take_seat() noexcept {
  const pid_t me = ::gettid();
  for (unsigned i = 0; i < seats_max; ++i)
    if (take(i, 0, me)) return &seats[i];
  for (unsigned i = 0; i < seats_max; ++i)
    if (const pid_t thread = seats[i].thread.load(); is_gone(thread) && take(i, thread, me))
      return &seats[i];
  seatless.store(1);
  return nullptr;
}

// A handler that comes in the middle may have got one for the thread.
void sit_down() noexcept {
  seat* const taken = take_seat();
  if (mine == nullptr)
    mine = taken;
  else if (taken != nullptr)
    taken->thread.store(0);
}

// CLOCK-3
bool has_ended(seat& s, uint64_t since) noexcept {
  const pid_t thread = s.thread.load();
  return thread != 0 && is_gone(thread) && s.since.compare_exchange_strong(since, 0);
}

}  // namespace

uint64_t tell_clock::tell() noexcept {
  if (mine == nullptr) sit_down();
  if (mine == nullptr) return clock_now.load();
  // CLOCK-1: the mark is there before the clock is read again.
  if (mine->since.load(std::memory_order_relaxed) == 0) mine->since.store(clock_now.load());
  return clock_now.load();
}

bool tell_clock::in_flight() noexcept {
  return mine != nullptr && mine->since.load(std::memory_order_relaxed) != 0;
}

void tell_clock::fence() noexcept {
  if (in_flight()) mine->since.store(0, std::memory_order_release);
}

void tell_clock::become_child() noexcept {
  for (seat& s : seats) {
    s.since.store(0);
    s.thread.store(0);
  }
  mine = nullptr;
}

uint64_t tell_clock::next_commit_set() noexcept {
  return clock_now.fetch_add(1) + 1;
}

uint64_t tell_clock::copied_at(uint64_t commit_set) noexcept {
  if (seatless.load() != 0) return all_time;
  uint64_t oldest = commit_set;
  const unsigned used = seats_used.load();
  for (unsigned i = 0; i < used; ++i) {
    const uint64_t since = seats[i].since.load();
    if (since == 0 || (commit_set > since + patience && has_ended(seats[i], since))) continue;
    oldest = std::min(oldest, since);
  }
  return oldest;
}

}  // namespace scute::core::audit
