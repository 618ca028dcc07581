// SPDX-License-Identifier: BSD-3-Clause
// Engine `redo`: Pangolin's transactions (sections 3.4 to 3.6).
//
//   1. log entry with all new bytes to the lane, both replicas          bytes in flight
//   2. fence                                                            -- decided --
//   3. new bytes to their places, parity deltas to the parity row, block by block under stripes
//   4. fence                                                            -- applied --
//   5. note in the lane's status line, by plain stores, neither flushed nor fenced
//
// The state after a crash at each step, and its recovery:
//   before the fence of 2   the entry may be torn or whole. Torn: nothing happened. Whole: as
//                           below.
//   between 2 and 4         any subset of the new data and parity. Replay writes all of the data
//                           again; the parity of those columns is recomputed from all rows.
//   after 4                 everything is in place; the entry may or may not be replayed, which
//                           changes nothing (REDO-5 keeps it from harming later transactions).
//
// REDO-1 No byte of a transaction reaches its place before its entry is decided. In-place ranges
//    are the exception: their old bytes are durable in an undo entry before the first store. The
//    bytes stored to them are durable before any part of the entry can be, since no log holds them.
// REDO-2 A decided transaction needs no byte of its write set's old values, nor old parity: replay
//    writes whole ranges, and parity of every touched column is recomputed.
// REDO-3 The lane writes no further entry before step 4 is complete (LOG-2).
// REDO-4 Recovery may be cut short anywhere: until the superblock names the next epoch the same
//    entries are found again, and doing all of it again gives the same result (POOL-7).
// REDO-5 An entry is never replayed after another transaction has written the bytes that it writes.
//    Its own lane ensures that with its next entry. Any other lane that is about to write in a
//    block learns from the block's stripe which lane was there last. It writes that lane's status
//    line back ahead of its own fence of step 2.
// REDO-6 That fence also completes the new entry. So a failure before it may leave the new entry
//    whole and the old one not yet invalid. Then both are replayed in the order of their sequence
//    numbers: a lane gives its entry a higher one than those it finds in the stripes.
//
// On REDO-5: the status line is stored by then (step 5), since a transaction must be over before
// another one may write its objects. So the entry is invalid before any new byte is in place. The
// price is two line write-backs, and only where lanes meet. On REDO-6, found by the crash explorer:
// without it the old entry could be replayed over the new one.
#pragma once

#include "core/engine/common/lane_log.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class redo final : public tx::engine {
 public:
  redo(pool::state& s, heap::heap& h) : s_(s), log_(s, h) {}

  // Every effect of a call is durable when it returns, so recovery leaves nothing unresolved.
  tx::recovery_report recover(medium::writer& w, tx::recovery_watch* watch) override;
  bool has_unresolved(uint64_t) const noexcept override { return false; }
  void resume(uint64_t) override {}
  bool has_background() const noexcept override { return false; }
  bool background() noexcept override { return false; }
  void drain(pool::lane&) noexcept override {}

  void commit(pool::lane& l, const tx::write_set& w) override;
  // For freed objects of one fragment each: only the header of each is written. Where objects have
  // no checksums, also for changed and new ones.
  bool commit_short(pool::lane& l, std::span<const tx::small_member> members,
                    std::span<const tx::inplace_range> in_place,
                    tx::slot_reclaimer* freed) override;
  void step(pool::lane& l, std::span<const pool::patch> patches) override;
  void prewrite(pool::lane& l, std::span<const pool::patch> patches) override;
  void save(pool::lane& l, const tx::inplace_range& r,
            std::span<const tx::member> fragments) override;
  void restore(pool::lane& l, std::span<const tx::inplace_range> ranges) override;
  void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) override;
  void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) override;

 private:
  void decide(pool::lane& l, entry_image& image, std::span<const pool::patch> patches);
  void finish(pool::lane& l, ending of);
  bool can_free(const pool::lane& l, const tx::small_member& m) const noexcept;

  pool::state& s_;
  lane_log log_;
};

}  // namespace scute::core::engine
