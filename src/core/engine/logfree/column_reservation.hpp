// SPDX-License-Identifier: BSD-3-Clause
// In-place ranges of log-free transactions: the user stores to the medium, and the parity, which
// still encodes the old bytes, is the undo log. From the first store to the end of the transaction
// the lane holds the column blocks of all fragments concerned.
//
//   none -> busy -> reserved -> busy -> ... -> none   save(), save(), commit or abort by the owner
//                   reserved -> spilling -> spilled   by a thread that needs one of the columns
//
// RESERVE-1 `reserved` is the state while the user's code runs. Then any thread may spill the
//    reservation: it makes the old bytes of all ranges durable in an undo entry in the owner's
//    lane, and releases the columns. From then on the transaction goes through the log
//    (core/engine/logfree/logged.hpp, LOGGED-2). So no thread waits for another thread's user code.
// RESERVE-2 `busy` and `spilling` last only while library code runs that waits for no column, and
//    for no other thread. In busy the owner only tries to get further columns; if that fails, it
//    spills its own reservation. It resolves what a crash has left beforehand, and touches the
//    pages that a window needs in state reserved.
// RESERVE-3 The undo entry is built in DRAM range by range, and always fits the lane's undo area.
//    So spilling takes no memory and no other lock; signal handlers do it, too.
// RESERVE-4 Until the transaction's end decoders see the old bytes through state::overlaid, whether
//    the columns are held or not. After a crash recovery finds them in the parity, or in the undo
//    entry, which it rolls back first.
// RESERVE-5 A small object is copied and verified with its columns reserved, so no other thread
//    changes it any more. Its next header can be computed from that copy, and the commit need not
//    test whether it has changed. A thread that does not get the columns at the first few tries, or
//    finds damage, releases them and goes the general way.
//
// On RESERVE-2: resolving (core/engine/logfree/logfree.hpp, LF-7) waits for stripes, which may be
// this lane's own where blocks share them. (Found by an attack from outside: no test had pools
// large enough for that.) A fault on a lost page waits for the columns of that page. A thread that
// asks for one of the columns in state reserved gets it, even if no page is lost; then the owner
// has to go through the log.
#pragma once

#include <span>
#include <vector>

#include "core/engine/common/lane_log.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class column_reservation {
 public:
  column_reservation(pool::state& s, lane_log& log)
      : s_(s), log_(log), fragments_(s.geo.lane_count), hulls_(s.geo.lane_count) {}

  enum class outcome {
    none,      // the transaction has no in-place ranges
    reserved,  // it holds their columns, and no other thread can take them now
    logged     // it goes through the log
  };

  // For the owner, when the library begins to use the lane. It calls release() or end() afterwards.
  outcome acquire(pool::lane& l) noexcept;
  void release(pool::lane& l) noexcept;  // back to the user's code
  bool is_acquired(const pool::lane& l) const noexcept;
  // True if the owner's transaction has no in-place ranges. (Only the owner enters or leaves that
  // state.)
  static bool is_none(const pool::lane& l) noexcept {
    return l.reservation.load(std::memory_order_relaxed) == 0;
  }
  // Calls window::require_columns() for l.now(). Meanwhile any thread can take the columns that are
  // held (RESERVE-2); returns false if one did.
  bool require_columns(pool::lane& l) noexcept;

  // In state none or reserved: takes the columns of further fragments. If it cannot, everything
  // that was held is spilled, the transaction goes through the log, and the result is false. Throws
  // SCUTE_E_CONFLICT if a fragment changed since the transaction read it.
  bool add(pool::lane& l, const tx::inplace_range& r, std::span<const tx::member> fragments);
  // The same for a range of a small object (core/tx/engine.hpp, save_short()). Returns false, with
  // nothing taken, if add() has to do it. Throws std::bad_alloc.
  bool add_small(pool::lane& l, const tx::small_member& m, bool known, const tx::inplace_range& r,
                 std::byte* old);
  // In state reserved: releases the columns, after writing an undo entry.
  void spill_to_undo_log(pool::lane& l) noexcept;
  // A window has the columns now, or they are free: the transaction is about to end, or has ended.
  void end(pool::lane& l) noexcept;

  // Any thread: spills the reservation that this stripe is in, if it is in state `reserved`.
  void take(pool::lane& l, uint32_t stripe) noexcept;

 private:
  bool lock(pool::lane& l, std::vector<uint32_t>& got);
  bool try_lock(pool::lane& l, uint32_t stripe) noexcept;
  void make_room(pool::lane& l);
  bool lock_small(pool::lane& l, const tx::small_member& m) noexcept;
  void unlock_small(pool::lane& l, const tx::small_member& m) noexcept;
  bool read_small(pool::lane& l, const tx::small_member& m) noexcept;
  void open(pool::lane& l, const tx::inplace_range& r, size_t undo_before);

  pool::state& s_;
  lane_log& log_;
  std::vector<std::vector<uint64_t>> fragments_;  // headers of held ones, by lane; owner only
  std::vector<pool::data_range> hulls_;           // the smallest range around all ranges, by lane
};

}  // namespace scute::core::engine
