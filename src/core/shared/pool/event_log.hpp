// SPDX-License-Identifier: BSD-3-Clause
// Damage that was found, and its outcome. Any thread that finds or repairs damage posts an event,
// also in a signal handler. Later, at the end of a call into the library, waiting events are
// reported, similar ones as one, to a ring in the pool and to the program's callback.
//
// EVENT-1 Posting takes no lock, no memory and no system call that could wait. A full queue drops
//    new events and counts them.
// EVENT-2 One thread at a time reports events; threads that come meanwhile leave theirs to it. No
//    other lock is held while the callback runs, and only scute_events() ever waits for the
//    callback.
// EVENT-3 The ring lies after the superblock copies, in all three pages alike, 48 lines. Every line
//    has its own checksum and a sequence that identifies it, so a crash loses only the lines that
//    it tears. No other data depends on the ring.
// EVENT-4 A write of the ring may find damage itself (a lost superblock page): that is posted like
//    any other, and reported in the next round.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/process/thread_block.hpp"
#include "core/layout/format.hpp"
#include "scute/scute.h"

namespace scute::core::pool {

struct state;

struct event {
  scute_event_kind kind;
  scute_outcome outcome;
  scute_finder finder;  // 0: finding_as()
  uint64_t offset, length;
  scute_oid object = 0;
};

// The purpose for which this thread examines the pool.
inline scute_finder finding_as() noexcept {
  const thread_block* const mine = this_thread_block;
  return mine == nullptr || mine->finder == 0 ? SCUTE_FINDER_ACCESS
                                              : static_cast<scute_finder>(mine->finder);
}

class finder_scope {
 public:
  explicit finder_scope(scute_finder f) noexcept : before_(own_thread_block().finder) {
    own_thread_block().finder = f;
  }
  ~finder_scope() { own_thread_block().finder = before_; }
  finder_scope(const finder_scope&) = delete;
  finder_scope& operator=(const finder_scope&) = delete;

 private:
  const uint32_t before_;
};

class event_log {
 public:
  static constexpr uint64_t queue_size = 1024;

  event_log();

  // Before the first notify_all().
  void call(scute_event_fn fn, void* arg) noexcept {
    fn_ = fn;
    arg_ = arg;
  }

  void post(const event& e) noexcept;  // EVENT-1
  bool pending() const noexcept { return pending_.load(std::memory_order_relaxed); }

  // Reports waiting events. No lock of the pool may be held.
  void notify_all(state& s);

  // Reports waiting events, and returns those in the ring, oldest first. Throws SCUTE_E_INVALID
  // inside of the callback.
  std::vector<scute_event> read(state& s);

 private:
  // lap * 2: free for that lap of the queue; lap * 2 + 1: holds an event of it.
  struct cell {
    std::atomic<uint64_t> sequence;
    uint64_t time_ns;
    uint64_t offset, length, object;
    uint8_t kind, outcome, finder;
  };
  struct release {
    void operator()(cell* c) const noexcept { std::free(c); }
  };

  bool take(scute_event& e) noexcept;
  void notify(state& s);
  void emit(state& s, scute_event* events, unsigned n);
  void write(state& s, const scute_event* events, unsigned n);

  std::unique_ptr<cell[], release> cells_;  // zero bytes are empty cells
  std::atomic<uint64_t> tail_{0};
  uint64_t head_ = 0;
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> pending_{false};
  std::atomic<const void*> notifier_{nullptr};  // the thread that reports (EVENT-2)
  uint64_t sequence_ = 0;                       // of the last event; 0: the ring was not read yet
  scute_event_fn fn_ = nullptr;
  void* arg_ = nullptr;
};

// The valid lines in the ring of a pool, oldest first. For tools and tests.
std::vector<format::event_record> read_event_ring(const state& s);

uint32_t event_checksum(uint64_t salt, const format::event_record& r) noexcept;

}  // namespace scute::core::pool
