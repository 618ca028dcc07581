// SPDX-License-Identifier: BSD-3-Clause
#include "core/file/group_sync.hpp"

#include <algorithm>
#include <chrono>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"

namespace scute::core::medium {
namespace {

constexpr uint64_t linger_ns_max = 200'000;

uint64_t now_ns() noexcept {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// Whether a is not before b, for numbers that wrap.
bool reached(uint32_t a, uint32_t b) noexcept {
  return static_cast<int32_t>(a - b) >= 0;
}

}  // namespace

void group_sync::linger(uint32_t company, uint64_t last_ns) const noexcept {
  if (company <= 1) return;
  const uint64_t end = now_ns() + std::min(last_ns / 4, linger_ns_max);
  for (unsigned spins = 0; waiting() < company && now_ns() < end;) spin_pause(spins);
}

void group_sync::join(void (*lead)(void*, bool), void* arg) noexcept {
  uint32_t wanted = 0;
  {
    const locked hold(lock_);
    wanted = begun_.load(std::memory_order_relaxed) + 1;
    waiting_.fetch_add(1, std::memory_order_relaxed);
  }
  uint32_t company = 0;
  uint64_t last_ns = 0;
  for (;;) {
    uint32_t ended = 0;
    {
      const locked hold(lock_);
      ended = ended_.load(std::memory_order_acquire);
      if (reached(ended, wanted)) return;
      if (!under_way_) {
        under_way_ = true;
        company = last_size_;
        last_ns = last_ns_;
        break;
      }
    }
    ended_.wait(ended, std::memory_order_acquire);
  }
  linger(company, last_ns);
  uint32_t number = 0, size = 0;
  {
    const locked hold(lock_);
    number = begun_.load(std::memory_order_relaxed) + 1;
    begun_.store(number, std::memory_order_relaxed);
    size = waiting_.exchange(0, std::memory_order_relaxed);
  }
  const uint64_t begin = now_ns();
  lead(arg, size == 1);
  {
    const locked hold(lock_);
    last_ns_ = now_ns() - begin;
    // The next sync serves threads that came meanwhile.
    last_size_ = size + waiting_.load(std::memory_order_relaxed);
    under_way_ = false;
    ended_.store(number, std::memory_order_release);
  }
  ended_.notify_all();
}

}  // namespace scute::core::medium
