// SPDX-License-Identifier: BSD-3-Clause
// A reader-writer lock of four bytes that spins. Nodes are held for as long as a search or a commit
// takes, and there are many of them.
//
// ThreadSanitizer takes it for what it is, atomic variables, and asks for no order of all locks:
// nodes are locked from the top down, and a node that is taken out and another one that is put in
// may have the same lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace scute::workloads {

class node_lock {
 public:
  node_lock() = default;
  node_lock(const node_lock&) = delete;
  node_lock& operator=(const node_lock&) = delete;

  void lock() noexcept {
    for (unsigned spins = 0;; wait(spins)) {
      uint32_t nobody = 0;
      if (word_.compare_exchange_weak(nobody, alone, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return;
    }
  }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }
  void lock_shared() noexcept {
    for (unsigned spins = 0;; wait(spins)) {
      uint32_t readers = word_.load(std::memory_order_relaxed);
      if (readers != alone &&
          word_.compare_exchange_weak(readers, readers + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return;
    }
  }
  void unlock_shared() noexcept { word_.fetch_sub(1, std::memory_order_release); }

 private:
  static constexpr uint32_t alone = ~0U;

  static void wait(unsigned& spins) noexcept {
    if (++spins % 64 == 0) std::this_thread::yield();
  }
  std::atomic<uint32_t> word_{0};
};

}  // namespace scute::workloads
