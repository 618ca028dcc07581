// SPDX-License-Identifier: BSD-3-Clause
// What the library keeps per thread: its transaction, its usual lane, its last error. Zero bytes at
// first and nothing to destroy, so that access needs no memory and cannot fail.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/locks/waiting.hpp"
#include "base/process/process.hpp"
#include "base/process/thread_block.hpp"

namespace scute::core {

class instance;
namespace tx {
class transaction;
}

// Says whether a pool is still open, and outlives it: so a thread can find out that another
// thread's scute_close() has ended its transaction. Never freed, but reused for a later pool: every
// caller names the pool by its serial.
struct pool_life {
  std::atomic<uint64_t> serial{0};  // of the pool; 0: closed
  // Held by a thread that ends and aborts its transaction if the pool is open, and by a thread that
  // closes the pool while it marks it closed: one of the two aborts the transaction.
  waiting_mutex ending;
  pool_life* next = nullptr;  // next free one

  bool is_open(uint64_t pool) const noexcept {
    return serial.load(std::memory_order_acquire) == pool;
  }
};
pool_life* new_pool_life(uint64_t serial);
// Called when its pool is closed and no thread asks for it any more by its serial.
void give_pool_life(pool_life* one) noexcept;

// Says whether a thread is using the lane that it leases (see lane_leases). Never freed; when its
// thread ends, a later thread gets it.
struct alignas(64) lease_holder {
  std::atomic<bool> active{false};
  lease_holder* next = nullptr;  // next free one
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
  uint64_t process = 0;       // in which all this holds (base/process/process.hpp, PROC-1)
  const tx::transaction* inherited =
      nullptr;                 // `current` in the process that this one was forked from
  bool admits_faults = false;  // see base/process/thread_signals.hpp
  uint64_t last_pool = 0;      // serial
  tx::transaction* last_transaction = nullptr;  // of last_lane

  // Gives the thread a holder, and an ordinal, which it keeps until it ends. Throws std::bad_alloc.
  void take_part() {
    if (holder == nullptr) join();
  }
  // Forgets state of another process, and a transaction that ended with its pool.
  void refresh() noexcept {
    if (process != this_process()) [[unlikely]]
      begin_process();
    if (current == nullptr || life->is_open(serial)) return;
    pool = nullptr;
    current = nullptr;
    holder->active.store(false, std::memory_order_release);
  }
  // Unblocks signals of lost pages, if they are handled in this process.
  void admit_faults() noexcept;
  // The message of the last error. Longer messages are cut. They are kept apart from the rest,
  // which every call needs, and take memory only from a thread's first error on.
  static void set_message(const char* text) noexcept;
  static const char* message() noexcept;

 private:
  void join();
  void begin_process() noexcept;
};

inline thread_state& this_thread() noexcept {
  return part_of_thread<thread_state>(own_thread_block().session);
}
// For code below a call to this_thread().
inline thread_state& known_thread() noexcept {
  return part_of_thread<thread_state>(present_thread_block().session);
}

}  // namespace scute::core
