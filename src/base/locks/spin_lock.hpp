// SPDX-License-Identifier: BSD-3-Clause
// A lock for a few instructions, which a signal handler may take as well: it spins. Its holder
// touches nothing that could fault, since a handler of the fault in the same thread would wait for
// the lock. Zero bytes are a free lock. For locked (base/locks/lock.hpp).
#pragma once

#include <atomic>

#include "base/locks/lock_contract.hpp"
#include "base/locks/waiting.hpp"

namespace scute::core {

class SCUTE_CAPABILITY("spin lock") spin_lock {
 public:
  void lock() noexcept SCUTE_ACQUIRE() {
    for (unsigned spins = 0; !try_lock();) spin_pause(spins);
  }
  bool try_lock() noexcept SCUTE_TRY_ACQUIRE(true) {
    return !flag_.test_and_set(std::memory_order_acquire);
  }
  void unlock() noexcept SCUTE_RELEASE() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

}  // namespace scute::core
