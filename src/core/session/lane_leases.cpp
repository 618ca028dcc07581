// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/lane_leases.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/locks/waiting.hpp"
#include "base/process/uncancelled.hpp"

namespace scute::core {
namespace {

int membarrier(int command) noexcept {
  return static_cast<int>(::syscall(SYS_membarrier, command, 0, 0));
}

bool registered() noexcept {
  static const bool ok = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return ok;
}

// Runs between a taker's two steps: makes every other thread pass a full barrier.
void heavy_barrier() noexcept {
  constexpr std::chrono::milliseconds stores_kept_back_max{20};
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!registered() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  const uncancelled now;
  std::this_thread::sleep_for(stores_kept_back_max);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

bool lane_leases::barriers_are_imposed() noexcept {
  return registered();
}

// Takes an unused lane and returns its number, or -1.
int lane_leases::take(thread_state& me) {
  const locked hold(mutex_);
  const uint32_t n = count_;
  for (uint32_t k = 0; k < n; ++k) {
    const uint32_t i = (me.ordinal + k) % n;
    lease_holder* owner = owners_[i].load(std::memory_order_relaxed);
    if (owner == nullptr || owner == me.holder) {
      owners_[i].store(me.holder, std::memory_order_relaxed);
      return static_cast<int>(i);
    }
  }
  for (uint32_t k = 0; k < n; ++k) {
    const uint32_t i = (me.ordinal + k) % n;
    lease_holder* owner = owners_[i].load(std::memory_order_relaxed);
    if (owner->active.load(std::memory_order_acquire)) continue;
    owners_[i].store(me.holder, std::memory_order_relaxed);
    heavy_barrier();
    if (!owner->active.load(std::memory_order_acquire)) return static_cast<int>(i);
    owners_[i].store(owner, std::memory_order_relaxed);  // it came back in time
  }
  return -1;
}

bool lane_leases::try_acquire(thread_state& me, uint32_t lane) {
  me.take_part();
  {
    const locked hold(mutex_);
    lease_holder* owner = owners_[lane].load(std::memory_order_relaxed);
    if (owner != nullptr && owner != me.holder) {
      if (owner->active.load(std::memory_order_acquire)) return false;
      owners_[lane].store(me.holder, std::memory_order_relaxed);
      heavy_barrier();
      if (owner->active.load(std::memory_order_acquire)) {
        owners_[lane].store(owner, std::memory_order_relaxed);  // it came back in time
        return false;
      }
    } else {
      owners_[lane].store(me.holder, std::memory_order_relaxed);
    }
  }
  return enter(lane, me.holder);
}

uint32_t lane_leases::acquire_another(thread_state& me) {
  me.take_part();
  for (unsigned spins = 0;;) {
    if (const int lane = take(me); lane >= 0) {
      if (enter(static_cast<uint32_t>(lane), me.holder)) return static_cast<uint32_t>(lane);
      continue;
    }
    // More threads than lanes. A transaction takes microseconds, unless its thread sleeps in it.
    spin_pause(spins);
  }
}

}  // namespace scute::core
