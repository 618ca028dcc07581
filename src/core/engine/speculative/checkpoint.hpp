// SPDX-License-Identifier: BSD-3-Clause
// The checkpoint of engine `spec`: writes blocks back and moves the truncation point
// (core/engine/speculative/speculative.hpp).
//
//   some of what recovery has left unresolved is resolved, and so becomes dirty
//   under each block's stripe: dirty lines written back; ranges open in place get new undo records
//   one fence
//   the checkpoint LSN is raised to the highest LSN checkpointed; then the lanes' active LSNs are
//   read, and then the list of the blocks that are left
//   truncation point = below all of these; a second fence
//
// CKPT-1 The LSN that the next commit draws is above the checkpoint LSN. No renewal is above the
//    checkpoint LSN, and the truncation point never is. So no commit can draw an LSN that the
//    truncation point has passed. The checkpoint sees a commit that published its active LSN
//    before the checkpoint LSN rose; a commit that did so after it sees the checkpoint LSN.
// CKPT-2 Stripes are held while lines are pushed, not over a fence. The checkpoint waits for
//    nothing except stripes, and for no user.
// CKPT-3 Where something is open, blocks take turns: those with the oldest records come first. A
//    block whose records the truncation point cannot reach in this round is not renewed, but
//    checkpointed another time. So all renewals lie, from the truncation point on, within two
//    rounds over the blocks, and the oldest block finds room.
// CKPT-4 Nothing dirty is left only when the truncation point has reached the checkpoint LSN, too.
//    A checkpoint between the last store of a commit and the end of its active LSN leaves clean
//    blocks, and frames that count. A session that began after them would draw their LSNs again.
// CKPT-5 It rests when nothing is left except its own renewals, and all their ranges are still
//    open: another round would renew the same, as long as a program leaves a transaction open. A
//    thread that ends a range, or logs anything, wakes it.
//
// On CKPT-3: what keeps the truncation point from reaching a block's records is a commit under way,
// or an older block that is pinned or finds no room.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

#include "base/locks/waiting.hpp"
#include "core/engine/speculative/block_table.hpp"
#include "core/engine/speculative/commit_log.hpp"
#include "core/engine/speculative/recovery/unresolved.hpp"

namespace scute::core::engine {

class checkpoint {
 public:
  // Everything up to `checkpoint_lsn` is of earlier sessions. `unresolved` has what they left to
  // resolve; it may be null.
  checkpoint(pool::state& s, block_table& t, commit_log& log, uint64_t checkpoint_lsn,
             unresolved_columns* unresolved);

  // ---- for commits: by lane, in the lane's thread -----------------------------------------------

  static constexpr uint64_t none_active = UINT64_MAX;
  // Everything that the lane appends until leave() has an LSN above this one, and above the
  // checkpoint LSN.
  void enter(uint32_t lane, uint64_t active_lsn) noexcept {
    active_lsns_[lane].lsn.store(std::max(active_lsn, checkpoint_lsn()), std::memory_order_seq_cst);
  }
  void leave(uint32_t lane) noexcept {
    active_lsns_[lane].lsn.store(none_active, std::memory_order_release);
  }
  // Runs fn() while no thread writes the truncation point.
  template <typename Fn>
  void while_it_rests(Fn&& fn) {
    const locked turn(mutex_);
    fn();
  }
  const medium::counters& count() const noexcept { return w_.count; }
  uint64_t checkpoint_lsn() const noexcept {
    return checkpoint_lsn_.load(std::memory_order_seq_cst);
  }

  // ---- checkpointing: any thread that holds no stripe and pins nothing --------------------------

  // One round over all blocks on the list. Returns true if something is left to checkpoint, or to
  // make void (CKPT-4). Throws std::bad_alloc, SCUTE_E_IO.
  bool cycle();
  // The same for a part of the list, the blocks that came to it first. So the truncation point
  // moves, and no thread waits for all of them. Throws as cycle() does.
  void help();
  // The same for one of `parts` equal parts, in rounds between which other rounds may come.
  bool cycle_part(size_t parts);
  // CKPT-5. Any thread.
  bool rests();
  // Waits until the durable truncation point has passed this LSN, of a record that is applied.
  void past(uint64_t lsn);
  // Waits until it has passed all that was applied when this was called (CKPT-4).
  void all();
  // MARK-1: notes the latest time, durably, if it is not noted yet. closing: the time is now, if
  // nothing is left to resolve. Throws SCUTE_E_IO.
  void note_time(bool closing);

 private:
  // A thread that helps checkpoints at least help_least blocks, and at least this part of all.
  // cycle_part() divides its part into rounds of at most round_most blocks.
  static constexpr size_t help_least = 64, help_part = 4, round_most = 4096;
  struct alignas(64) lane_lsn {
    std::atomic<uint64_t> lsn{none_active};
  };
  struct open_range {
    uint64_t offset, length;
  };
  bool round(size_t blocks) SCUTE_REQUIRES(mutex_);
  bool is_open(uint64_t b) SCUTE_REQUIRES(mutex_);
  bool checkpoint_block(uint64_t b, uint64_t& highest) SCUTE_REQUIRES(mutex_);
  bool renew(uint64_t b) SCUTE_REQUIRES(mutex_);
  uint64_t oldest_active_lsn() const noexcept;
  uint64_t in_reach() const noexcept;
  uint64_t applied() const noexcept SCUTE_REQUIRES(mutex_);

  pool::state& s_;
  block_table& table_;
  commit_log& log_;
  std::deque<lane_lsn> active_lsns_;
  std::atomic<uint64_t> checkpoint_lsn_;
  unresolved_columns* const unresolved_;
  waiting_mutex mutex_;  // one cycle at a time
  medium::writer w_;     // of the thread that has mutex_, as are the last three below
  block_table::list taken_ SCUTE_GUARDED_BY(mutex_);
  // Of the thread that has mutex_, as well:
  std::vector<log_range> records_;
  byte_buffer copies_;
  std::vector<open_range> open_;
  bool short_of_memory_ = false;
  uint64_t renewal_lsn_ = 0;  // the LSN last drawn for a renewal
  uint64_t reach_ =
      0;  // the LSN that the truncation point can reach in this round, as far as is known (CKPT-3)
  bool renewed_ = false;  // since the log's last fence
  // MARK-1. All records committed before `watch_ns_` have LSNs up to `watch_lsn_`. Those committed
  // before `whole_ns_` are durable in the pool.
  uint64_t watch_ns_ = 0, watch_lsn_ = 0, whole_ns_ = 0, noted_ns_ = 0;
  alignas(64) std::byte page_[block_table::page];
};

}  // namespace scute::core::engine
