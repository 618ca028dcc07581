// SPDX-License-Identifier: BSD-3-Clause
// Engine `spec`: speculative logging (SpecPMT, sections 3 and 4), with its holes closed. Outside of
// commits CPUs see a complete state: data, headers with their checksums, and parity. A commit makes
// only a record of its new bytes durable. Data, headers and parity change by cached stores that are
// not written back. The log and the medium together hold the state that CPUs see. A checkpoint
// writes blocks back, in the background, and moves the truncation point, up to which the log is
// void.
//
//   1. LSNs of the blocks, an LSN above them                        nothing
//   2. frames with all new bytes to the lane's segment; one fence         -- decided, durable --
//   3. cached stores to data and parity, block by block under stripes
//
// The state after a crash at each step, and its recovery:
//   before the fence of 2       frames torn or whole. Torn: the newest record of each byte says
//                               what it was. Whole: as below
//   after it, until checkpointed
//                               per line any version from the last checkpoint on: the newest record
//                               counts, parity is recomputed
//   in a checkpoint             the same: the truncation point has not moved
//   truncation point durable    frames up to it are not looked at
//   abort, process killed       the old bytes may be in caches only: the undo record has them
//   in recovery                 the same again
//   columns unresolved          the same again, and what was committed since is above it
//
// A record says what a range holds from its LSN on. So an undo record is a record of old bytes, and
// the newest record of a byte counts, whatever its kind.
//
// SPEC-1 No store of a transaction with micro-buffers reaches the pool before its frames are
//    durable; they count as a whole or not at all.
// SPEC-2 A granule that is open in place has an image, before the first store: all its bytes are in
//    durable records since the block's last checkpoint, with nothing placed above them (TABLE-3),
//    or in undo records.
// SPEC-3 A record's LSN is above those of all records of its blocks and above the checkpoint LSN.
//    The lane's active LSN is visible before these are read.
// SPEC-4 The record of a byte with the highest LSN counts. A placed record says that the medium has
//    the bytes, and the log does not.
// SPEC-5 A dirty line is durable before the truncation point passes its records. The truncation
//    point passes a record only when its blocks are checkpointed past it and no lane has an active
//    LSN at or below it. It never falls.
// SPEC-6 From the look at a block's granules until the range is open its stripe is held, or the
//    lane's active LSN keeps the truncation point below. From before a commit's LSN until its
//    ranges in place are closed their blocks are pinned; checkpoints pass over them. No thread
//    waits for room or for a checkpoint while it pins.
// SPEC-7 A checkpoint that finds ranges open in place writes undo records of them, with an LSN
//    drawn under the stripe.
// SPEC-8 (commit_log.hpp, segment_list.hpp) Segments are listed before their use, and reused after
//    a durable truncation point.
// SPEC-9 An abort, and recovery, leave the lines that they store dirty, or write them back.
// SPEC-10 Records, the list and the truncation point are in two copies, or in tracks, wherever logs
//    are replicated. Everything that recovery rests on is durable in all of them first (REPLAY-1).
// SPEC-11 Recovery stores all that the log has before transactions begin. The parity of its columns
//    is recomputed after the opening (unresolved.hpp). Until a block's parity is durable the
//    truncation point stays below its records.
// SPEC-12 A freed slot is handed out when the free is applied, and so is a chunk if all that comes
//    there is in records, which are above the older ones (SPEC-3). A chunk that the log itself may
//    get, where the log is in the pool, gets a new use after a durable truncation point.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "core/engine/speculative/block_table.hpp"
#include "core/engine/speculative/checkpoint.hpp"
#include "core/engine/speculative/commit_log.hpp"
#include "core/engine/speculative/log_file/log_in_file.hpp"
#include "core/engine/speculative/log_file/log_room.hpp"
#include "core/engine/speculative/log_scrubber.hpp"
#include "core/engine/speculative/recovery/unresolved.hpp"
#include "core/heap/heap.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class speculative final : public tx::engine {
 public:
  speculative(pool::state& s, heap::heap& h);
  ~speculative() override;

  void find_log() override;
  tx::recovery_report recover(medium::writer& w, tx::recovery_watch* watch) override;
  bool has_unresolved(uint64_t) const noexcept override {
    return unresolved_ != nullptr && unresolved_->pending();
  }
  void resume(uint64_t) override {}
  void prepare() override;
  void start() override;
  void closing() override;
  void closed() noexcept override;
  log_state log() const noexcept override;
  bool give_back_log(pool::lane& l) override;
  std::optional<uint64_t> record_room(uint64_t chunks) override;
  void look_at_log(bool repair, const tx::log_finding_fn& report) override;
  void for_each_live_log(const std::function<void(uint64_t offset, uint64_t length)>& fn) override;
  const medium::counters* background_count() const noexcept override {
    return checkpoint_ != nullptr ? &checkpoint_->count() : nullptr;
  }
  bool has_background() const noexcept override { return true; }
  bool background() noexcept override;
  void drain(pool::lane& l) override;

  void commit(pool::lane& l, const tx::write_set& w) override;
  bool logs_payload(pool::lane& l, uint64_t bytes) override;
  bool commit_short(pool::lane& l, std::span<const tx::small_member> members,
                    std::span<const tx::inplace_range> in_place,
                    tx::slot_reclaimer* freed) override;
  void step(pool::lane& l, std::span<const pool::patch> patches) override;
  bool takes_steps_along() const noexcept override { return log_ != nullptr && log_->is_apart(); }
  void prewrite(pool::lane& l, std::span<const pool::patch> patches) override;
  void save(pool::lane& l, const tx::inplace_range& r,
            std::span<const tx::member> fragments) override;
  bool save_short(pool::lane& l, const tx::small_member& m, member_state known,
                  const tx::inplace_range& r, std::byte* old) override;
  void restore(pool::lane& l, std::span<const tx::inplace_range> ranges) override;
  void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) override;
  void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) override;

 private:
  struct lane_state;
  class pins;
  class flight;

  void plan(lane_state& mine, std::span<const pool::patch> patches);
  void plan_in_place(lane_state& mine, std::span<const tx::inplace_range> ranges);
  void find_blocks(lane_state& mine);
  enum class growth : bool { never, allowed };
  void make_room(pool::lane& l, lane_state& mine, commit_log::stream_guard& turn, growth may);
  uint64_t draw(lane_state& mine) noexcept;
  log_location& find_location(bool clean);
  uint64_t find_start_lsn(const log_location& location, const segment_list& list) const;
  void renew_truncation_point(log_location& location, const segment_list& list,
                              uint64_t checkpoint_lsn);
  void look_at_log_file() noexcept;
  enum class how : uint8_t { cached, streamed };
  void decide(pool::lane& l, lane_state& mine, commit_log::stream_guard& turn, uint32_t flags,
              how stores, std::span<const tx::inplace_range> ranges);
  void store_parity(pool::lane& l, lane_state& mine, uint64_t offset, uint64_t parity, uint32_t n,
                    const std::byte* old, const std::byte* fresh, how stores) noexcept;
  void apply(pool::lane& l, lane_state& mine, uint64_t lsn, how stores) noexcept;
  void fetch_ahead(const pool::lane& l, const lane_state& mine) const noexcept;
  void apply_in_place(pool::lane& l, lane_state& mine, uint64_t lsn,
                      std::span<const tx::inplace_range> ranges) noexcept;
  void add_part(pool::lane& l, lane_state& mine, const tx::small_member& m, uint64_t begin,
                uint64_t end, medium::purpose why);
  void renew_images(const pool::lane& l, std::span<const tx::small_member> members,
                    std::span<const tx::inplace_range> ranges) noexcept;
  void end_reservation(pool::lane& l, lane_state& mine) noexcept;
  void open_range(pool::lane& l, const tx::inplace_range& r);
  bool open_imaged(pool::lane& l, const tx::inplace_range& r);
  bool open_part(pool::lane& l, const tx::inplace_range& r, uint64_t at, uint64_t n, uint64_t lsn);

  pool::state& s_;
  heap::heap& heap_;
  std::deque<lane_state> lanes_;
  // From recovery, if there was one: the highest LSN, and the last one of each segment.
  uint64_t recovered_ = 0;
  std::vector<uint64_t> last_frames_;
  log_state seen_log_;    // of a session that only reads, with a log in a file
  bool unclean_ = false;  // the log was needed
  std::optional<uint64_t>
      checkpoint_lsn_;  // of a pool that was closed properly, if it was looked for
  std::unique_ptr<log_location> location_;
  log_in_file* in_file_ = nullptr;  // location_, if it is one
  uint64_t seen_ = 0;               // by background(): what its last look found appended
  uint64_t begun_ = 0;              // and how many segments were begun
  unsigned looks_ = 0;              // since the last checkpoint
  std::unique_ptr<block_table> table_;
  std::unique_ptr<unresolved_columns> unresolved_;  // null: nothing is left
  // From start() on.
  std::unique_ptr<commit_log> log_;
  std::unique_ptr<checkpoint> checkpoint_;
  std::unique_ptr<log_room> room_;
  std::unique_ptr<log_scrubber> scrubber_;
};

// The records that a lane's transaction is about to log.
struct speculative::lane_state {
  std::vector<log_range> records;
  std::vector<uint64_t> blocks;  // of these
  std::vector<uint64_t> pinned;  // of ranges in place, ascending
  byte_buffer copies;
  std::vector<std::byte> scratch;  // a page for a delta, and one for each parity
  uint64_t last_lsn = 0;           // the LSN last drawn
  uint64_t reserved = 0;           // for undo records of its ranges

  void start() noexcept {
    records.clear();
    pinned.clear();
    copies.clear();
  }
};

}  // namespace scute::core::engine
