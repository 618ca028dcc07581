// SPDX-License-Identifier: BSD-3-Clause
// The window of a log-free commit: from the moment its column blocks are locked until its parity is
// durable (docs/internals/logfree.md, "The protocol" and "One fence").
//
// WIN-1 A window holds the stripes of its blocks exclusively, all of them at once, from before its
//    first store until after the fence that follows its last one. Threads wait for stripes in
//    ascending order. A thread does not wait while it holds other stripes that could not be taken
//    from it, so no thread waits for ever.
// WIN-2 The second fence may be left to the lane's next one. Until then the window is *deferred*:
//    decided, parity stored, stripes still held. A thread that needs one of the stripes writes all
//    of that parity back, fences, and releases all of them (drain()). Parity therefore goes out by
//    cached stores, which any CPU can write back.
// WIN-3 A lane's next window takes the deferred one back first, so that no thread can drain it
//    half-way. If their columns overlap, byte by byte, it fences before it stores anything. If not,
//    both share their common stripes, and its first fence is the deferred one's second: with its
//    own stripes taken, it writes the deferred parity back before that fence.
// WIN-4 A lane that has taken back a deferred window waits for no stripe: it only tries, and if
//    that fails releases everything first.
// WIN-5 If a fence fails, the medium says so before the columns are released. A thread that has got
//    the columns of a window asks the medium again, and stores nothing if it has failed. So columns
//    whose parity may not be durable are never open again, and yet no thread waits for them for
//    ever.
// WIN-6 The methods are called in this order: plan, enter, write_data, [fence], write_parity, and
//    then defer or leave; retreat or leave instead of what follows enter. Each asserts that the
//    lane's step is one that it may follow.
//
// On WIN-3: the thread whose fence completes that write-back also starts it, whichever thread has
// stored the parity (a lane may have changed hands). It starts it after the locked instructions:
// the first of these would wait for the write-back as a fence does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/shared/state.hpp"

namespace scute::core::engine {

// A range of the data rows that a transaction has open as a whole.
struct extent {
  uint64_t offset;
  uint64_t length;
  // The old bytes have no owner: no checksum shows whether they were decoded correctly. So no other
  // cells of the same columns could be decoded along with them.
  bool alone = false;
};

// True if two sets of columns, ascending, have one in common.
bool overlap(const std::vector<pool::column_range>& a,
             const std::vector<pool::column_range>& b) noexcept;

// Computes into `next` the parity p that belongs under a piece, given its delta.
void add_delta(const pool::state& s, const pool::piece& x, uint32_t p, std::byte* next) noexcept;

// Touches the pages of parity of a few bytes, which lie in one row. A fault rebuilds those that are
// lost.
void touch_parity(const pool::state& s, uint64_t parity, uint64_t length) noexcept;

// A lane's windows: `now`, the one under way, and `last`, which may be deferred. Their state is in
// the lane, where a thread that rebuilds a lost page in the middle of a commit finds it
// (core/shared/parity/in_flight_write.hpp). This class has the operations on it, and costs nothing
// to make. Only the thread that uses the lane calls the methods, unless they say that any thread
// may.
class window {
 public:
  window(pool::state& s, pool::lane& l) noexcept : s_(s), l_(l) {}

  // Fills l.now() with what a window over these extents needs. False if more of them have a byte
  // column in common than there are parities to bring them back.
  bool plan(std::span<const extent> extents);
  // The same for l.pieces, which may have columns in common: then l.now() lists none, and the
  // parity of each piece is computed when the one before it is written.
  void plan_pieces();

  // For a caller that fills l.now() itself.
  void planned() noexcept { go_to<point::closed, point::planned>(point::planned); }

  // Takes the lane's deferred window back, after waiting for a thread that drains it. Returns false
  // if the lane has none.
  bool take_back() noexcept {
    for (unsigned spins = 0;; spin_pause(spins)) {
      uint32_t seen = l_.deferral.load(std::memory_order_acquire);
      if (seen == none || seen == taken) return false;
      if (seen != draining &&
          l_.deferral.compare_exchange_strong(seen, taken, std::memory_order_acq_rel))
        return true;
    }
  }
  // Ends the window that was taken back, with a fence.
  void finish_last() noexcept;

  // To be called before enter(). Touches every page that this window's rollback would need; the
  // fault of a page that is known to be lost rebuilds it. A page of parity found to be lost when
  // the data is torn would be one loss too many. The fault waits for a stripe, so the caller must
  // hold none that cannot be taken from it (WIN-1).
  void require_columns() noexcept;

  // Locks the stripes of l.now(), except those that l.reserved or the window taken back holds
  // already. A thread that holds stripes which cannot be taken from it does not wait (WIN-1). So if
  // l.reserved holds any and another stripe is not available at once, returns false with no further
  // stripe locked.
  bool enter() noexcept;
  // Unlocks l.now() after enter(), with nothing stored: the transaction may not commit, or the
  // medium has failed (WIN-5). The window that was taken back is ended; l.reserved stays as it is.
  void retreat() noexcept;
  // The same without a fence: the window that was taken back is deferred again, with more of its
  // parity written back than before.
  void give_up() noexcept {
    go_to<point::open>(point::closed);
    for (const uint32_t stripe : l_.now().stripes)
      if (!l_.last().has(stripe) && !l_.reserved.has(stripe)) unlock(stripe);
    l_.now().clear();
    if (l_.deferral.load(std::memory_order_relaxed) == taken)
      l_.deferral.store(deferred, std::memory_order_release);
  }
  // After the fence that decided l.now(): the parity of l.last() is durable as well.
  void release_last() noexcept {
    go_to<point::data, point::parity>(l_.point);
    for (const uint32_t stripe : l_.last().stripes)
      if (!l_.now().has(stripe)) unlock(stripe);
    forget_last();
  }
  // Unlocks l.now(): its parity is durable, or nothing was stored.
  void leave() noexcept;
  // l.now() becomes the deferred window.
  void defer() noexcept {
    go_to<point::parity>(point::closed);
    SCUTE_ASSERT(l_.deferral.load(std::memory_order_relaxed) == none);
    l_.current ^= 1;
    l_.deferral.store(deferred, std::memory_order_release);
  }

  // Data phase: new bytes of l.pieces to their places, deltas to l.deltas (which prepare_deltas()
  // made as large as they are). Parity phase: deltas to the parity. No fence in either.
  void prepare_deltas();
  void write_data() noexcept;
  // later: the thread that ends the deferred window writes the parity back.
  enum class write_back : uint8_t { now, later };
  void write_parity(write_back when) noexcept;

  // Makes the parity of the lane's deferred window durable and releases its stripes. Does nothing
  // if there is none. Any thread may call it; async-signal-safe. If the medium fails it says so
  // afterwards (WIN-5).
  void drain() noexcept;
  // The same. If another thread is draining the window, or the lane has taken it back, waits for
  // the fence of that thread. Not for signal handlers, nor with columns held.
  void drain_wholly() noexcept;
  // Called from time to time: drains a window that was deferred already at the previous call. False
  // if the lane has nothing deferred. Any thread may call it.
  bool age() noexcept;

 private:
  friend class short_commit;
  using point = pool::window_point;
  // The states of l_.deferral. taken: the lane has it back, and its parity is durable with the
  // lane's next fence.
  enum deferral : uint32_t { none, deferred, aged, draining, taken };

  template <point... Allowed>
  void go_to(point to) noexcept {  // WIN-6
    SCUTE_ASSERT(((l_.point == Allowed) || ...));
    l_.point = to;
  }
  bool lock() noexcept;
  void unlock(uint32_t stripe) noexcept { s_.locks.unlock_window(stripe, l_.index); }
  void forget_last() noexcept {
    l_.last().clear();
    if (l_.deferral.load(std::memory_order_relaxed) == taken)
      l_.deferral.store(none, std::memory_order_release);
  }

  pool::state& s_;
  pool::lane& l_;
};

}  // namespace scute::core::engine
