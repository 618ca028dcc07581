// SPDX-License-Identifier: BSD-3-Clause
// The window of a log-free commit: from the moment its column blocks are locked until its parity is
// durable (docs/internals/logfree.md, "The protocol" and "One fence").
//
// WIN-1 A window holds the stripes of its blocks exclusively, all of them at once, from before its
//    first store until after the fence behind its last one. Stripes are waited for in ascending
//    order, and by nobody who holds others that could not be taken from him, so nobody waits for
//    ever.
// WIN-2 The second fence may be left to the lane's next one. Until then the window is *deferred*:
//    decided, parity stored, stripes still held. Whoever wants one of the stripes writes all of
//    that parity back, fences, and lets go of all of them (drain()). Parity therefore goes out by
//    cached stores, which any CPU can write back.
// WIN-3 A lane's next window takes the deferred one back first, so that nobody can drain it
//    half-way. If their columns overlap, byte by byte, it fences before it stores anything. If not,
//    both share the stripes that they have in common, and its own first fence is the deferred one's
//    second: before it, with its own stripes taken, it writes the deferred parity back. So that is
//    done by the thread whose fence is to complete it, whoever has stored the parity (a lane may
//    have changed hands), and behind the locked instructions, the first of which would wait for it
//    as a fence does.
// WIN-4 A lane that holds a window waits for no stripe while it has taken back a deferred one: it
//    only tries, and if that fails lets go of everything first.
// WIN-5 A fence that fails is known to everybody who gets one of its columns afterwards: the medium
//    says so before they are let go. Whoever has got the columns of a window asks the medium once
//    more, and stores nothing if it has failed. So columns whose parity may not be durable are
//    never open again, and yet nobody waits for them for ever.
// WIN-6 The methods are called in this order: plan, enter, write_data, [fence], write_parity, and
//    then defer or leave; retreat or leave instead of what follows enter. Each asserts that the
//    lane's step is one that it may follow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/planted.hpp"
#include "pool/state.hpp"

namespace scute::core::engine {

// A range of the data rows that a transaction has open as a whole.
struct extent {
  uint64_t offset;
  uint64_t length;
  // The old bytes are nobody's, so that no checksum would tell whether they were decoded. Other
  // cells of the same columns could not be decoded beside them.
  bool alone = false;
};

// True if two sets of columns, ascending, have one in common.
bool overlap(const std::vector<pool::column_range>& a,
             const std::vector<pool::column_range>& b) noexcept;

// What parity p will be under a piece, given its delta: to `next`.
void add_delta(const pool::state& s, const pool::piece& x, uint32_t p, std::byte* next) noexcept;

// The pages of parity of a few bytes, which lie in one row, are there: a fault brings back those
// that are not.
void touch_parity(const pool::state& s, uint64_t parity, uint64_t length) noexcept;

// A lane's windows: `now`, the one under way, and `last`, which may be deferred. What it knows is
// in the lane, where whoever rebuilds a lost page in the middle of a commit finds it
// (pool/in_flight_write.hpp); this is what may be done with it, and costs nothing to make. Methods
// are the thread's that uses the lane, unless they say that they are anybody's.
class window {
 public:
  window(pool::state& s, pool::lane& l) noexcept : s_(s), l_(l) {}

  // Fills l.now() with what a window over these extents needs. False if more of them have a byte
  // column in common than there are parities to bring them back.
  bool plan(std::span<const extent> extents);
  // The same for l.pieces, which may have columns in common: then l.now() lists none, and the
  // parity of each piece is computed when the one before it is written.
  void plan_pieces();

  // For who fills l.now() himself.
  void planned() noexcept { go_to<point::closed, point::planned>(point::planned); }

  // Makes the deferred window of the lane its own again, waiting for whoever is draining it. False
  // if there is none.
  bool take_back() noexcept {
    for (unsigned spins = 0;; spin_pause(spins)) {
      uint32_t seen = l_.deferral.load(std::memory_order_acquire);
      if (seen == none || seen == taken) return false;
      if (seen != draining &&
          l_.deferral.compare_exchange_strong(seen, taken, std::memory_order_acq_rel))
        return true;
    }
  }
  // Ends what was taken back, with a fence.
  void finish_last() noexcept;

  // To be called before enter(): every page that this window's rollback would need is there, and
  // those that are known to be lost are rebuilt by the fault that this makes. A page of parity that
  // is found to be lost when the data is torn would be one loss too many. The fault waits for a
  // stripe, so that the caller holds none that cannot be taken from him (WIN-1).
  void require_columns() noexcept;

  // Locks l.now(), but for what l.reserved holds already, and with what take_back() has taken back.
  // False, with nothing locked beyond that, if l.reserved holds anything and something else was not
  // to be had at once: nobody who holds what cannot be taken from him waits (WIN-1).
  bool enter() noexcept;
  // Unlocks l.now() after enter(), with nothing stored: the transaction may not have its way, or
  // the medium has failed (WIN-5). What was taken back is ended; l.reserved keeps what it has.
  void retreat() noexcept;
  // The same without a fence: what was taken back is deferred again, with more of its parity
  // written back than before.
  void give_up() noexcept {
    go_to<point::open>(point::closed);
    for (const uint32_t stripe : l_.now().stripes)
      if ((!l_.last().has(stripe) || SCUTE_PLANTED(give_up_shared)) && !l_.reserved.has(stripe))
        unlock(stripe);
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
  // later: whoever ends the deferred window writes the parity back.
  enum class write_back : uint8_t { now, later };
  void write_parity(write_back when) noexcept;

  // Makes the parity of the lane's deferred window durable and lets go of its stripes; nothing if
  // it has none. Anybody's; async-signal-safe. If the medium fails it says so afterwards (WIN-5).
  void drain() noexcept;
  // The same, and if another thread is at it, or the lane has taken it back, waits for that one's
  // fence. Not in signal handlers, nor with columns held.
  void drain_wholly() noexcept;
  // For whoever looks at a lane from time to time: drains what was deferred at the look before
  // already. False if the lane has nothing deferred. Anybody's.
  bool age() noexcept;

 private:
  friend class short_commit;
  using point = pool::window_point;
  // Of l_.deferral. taken: the lane has it back, and its parity is durable with the lane's next
  // fence.
  enum deferral : uint32_t { none, deferred, aged, draining, taken };

  template <point... Allowed>
  void go_to(point to) noexcept {  // WIN-6
    SCUTE_ASSERT(((l_.point == Allowed) || ...));
    l_.point = to;
  }
  bool lock() noexcept;
  void unlock(uint32_t stripe) noexcept {
    if (!SCUTE_PLANTED(window_unlocked)) s_.locks.unlock_window(stripe, l_.index);
  }
  void forget_last() noexcept {
    l_.last().clear();
    if (l_.deferral.load(std::memory_order_relaxed) == taken)
      l_.deferral.store(none, std::memory_order_release);
  }

  pool::state& s_;
  pool::lane& l_;
};

}  // namespace scute::core::engine
