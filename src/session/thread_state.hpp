// SPDX-License-Identifier: BSD-3-Clause
// What the library remembers per thread: its transaction, its usual lane, its last error. Zero
// bytes to begin with and nothing to destroy, so that reaching it needs no memory and cannot fail.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/process.hpp"
#include "base/thread_block.hpp"
#include "base/waiting.hpp"

namespace scute::core {

class instance;
namespace tx {
class transaction;
}

// Tells whether a pool is still open; outlives it, so that a thread whose transaction another
// thread's scute_close() ended can find out. Never freed, but passed on to a later pool: every
// caller names the pool.
struct pool_life {
  std::atomic<uint64_t> serial{0};  // of the pool; 0: closed
  // Held by a thread that ends, and aborts its transaction if the pool is open, and by the thread
  // that closes the pool while it says so: one of the two aborts the transaction.
  waiting_mutex ending;
  pool_life* next = nullptr;  // of those that no pool has

  bool is_open(uint64_t pool) const noexcept {
    return serial.load(std::memory_order_acquire) == pool;
  }
};
pool_life* new_pool_life(uint64_t serial);
// When its pool is closed, and no thread asks for it any more by its serial.
void give_pool_life(pool_life* one) noexcept;

// Says whether a thread is using the lane that it leases (see lane_leases). Never freed; handed on
// to a later thread when its own ends.
struct alignas(64) lease_holder {
  std::atomic<bool> active{false};
  lease_holder* next = nullptr;  // of those that no thread has
};

struct thread_state {
  static constexpr size_t message_size = 1024;

  uint32_t ordinal = 0;            // spreads threads over lanes; see take_part()
  int last_lane = 0;               // of last_pool
  lease_holder* holder = nullptr;  // null until the thread's first lane
  instance* pool = nullptr;        // on which `current` runs
  tx::transaction* current = nullptr;
  pool_life* life = nullptr;  // of `pool`
  uint64_t serial = 0;        // of `pool`
  uint64_t process = 0;       // in which all this holds (base/process.hpp, PROC-1)
  const tx::transaction* inherited =
      nullptr;                 // `current` in the process that this one was forked from
  bool admits_faults = false;  // see base/thread_signals.hpp
  uint64_t last_pool = 0;      // serial
  tx::transaction* last_transaction = nullptr;  // of last_lane

  // Gives the thread a holder, and an ordinal, which it keeps until it ends. Throws std::bad_alloc.
  void take_part() {
    if (holder == nullptr) join();
  }
  // Forgets what was another process's, and a transaction that ended with its pool.
  void refresh() noexcept {
    if (process != this_process()) [[unlikely]]
      begin_process();
    if (current == nullptr || life->is_open(serial)) return;
    pool = nullptr;
    current = nullptr;
    holder->active.store(false, std::memory_order_release);
  }
  // Signals of lost pages, if they are handled in this process.
  void admit_faults() noexcept;
  // Of the last error. Longer messages are cut. They lie apart from the rest, which every call
  // needs, and take memory from a thread's first error on.
  static void set_message(const char* text) noexcept;
  static const char* message() noexcept;

 private:
  void join();
  void begin_process() noexcept;
};

inline thread_state& this_thread() noexcept {
  return part_of_thread<thread_state>(own_thread_block().session);
}
// For where this call has asked for it already.
inline thread_state& known_thread() noexcept {
  return part_of_thread<thread_state>(present_thread_block().session);
}

}  // namespace scute::core
