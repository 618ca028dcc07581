// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/speculative.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/rounding.hpp"
#include "codec/parity/parity.hpp"
#include "core/engine/common/in_place.hpp"
#include "core/engine/speculative/log_file/log_in_pool.hpp"
#include "core/engine/speculative/log_file/pages.hpp"
#include "core/engine/speculative/recovery/gap_detection.hpp"
#include "core/engine/speculative/recovery/replay.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "core/engine/speculative/under_way.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/pool/superblock.hpp"
#include "core/tx/conflict.hpp"

namespace scute::core::engine {

speculative::speculative(pool::state& s, heap::heap& h) : s_(s), heap_(h) {
  for (uint32_t i = 0; i < s.geo.lane_count; ++i)
    lanes_.emplace_back().scratch.resize((1 + uint64_t{s.geo.parity}) * block_table::page);
}
speculative::~speculative() {
  if (s_.resolving == unresolved_.get()) s_.resolving = &pool::nothing_to_resolve;
}

// ---- its life -----------------------------------------------------------------------------------

// Finds the log where the superblock says. clean: the pool was closed, so a new log may be made.
log_location& speculative::find_location(bool clean) {
  if (location_ != nullptr) return *location_;
  if ((s_.sb.incompat & format::incompat_log_file) == 0) {
    location_ = std::make_unique<log_in_pool>(s_, heap_);
  } else if (auto found = log_in_file::find(s_, clean)) {
    in_file_ = found.get();
    location_ = std::move(found);
  }
  return *location_;
}

void speculative::find_log() {
  if ((s_.sb.incompat & format::incompat_log_file) != 0) return;
  const std::optional<segment_list> list = read_list(s_);
  if (!list) return;
  s_.lost_log.keep();
  for (const uint64_t c : list->chunks)
    if (!s_.overlaid.touches(c, 1)) s_.overlaid.add(c, s_.geo.chunk_size, nullptr);
}

tx::recovery_report speculative::recover(medium::writer& w, tx::recovery_watch* watch) {
  unclean_ = true;
  log_location& location = find_location(false);
  segment_list list = location.read();
  // REPLAY-1: a dead process may have stored both, and no fence may have completed that.
  location.keep(w, list);
  replayed r = replay(s_, w, location, list, watch);
  recovered_ = r.highest;
  table_ = std::make_unique<block_table>(s_);
  if (s_.has_parity && !r.written.ranges.empty()) {
    last_frames_ = std::move(r.last_frames);
    unresolved_ = std::make_unique<unresolved_columns>(s_, *table_, r.written);
    s_.resolving = unresolved_.get();
    w.fence(fence_site::spec_unresolved);
  } else {
    // All records are applied and durable: nothing of the log is needed any more.
    commit_log log(s_, location, list, r.truncation_point, r.last_frames);
    log.write_truncation_point(w, std::max(r.highest, r.truncation_point));
    log.fence(w, log.checkpoint_lane(), fence_site::spec_recovered);
  }
  s_.require_healthy();
  clear_misleading(s_, w, location, list);
  return r.report;
}

void speculative::prepare() {
  if (s_.read_only) return;
  log_location& location = find_location(true);
  if (!unclean_) {
    const segment_list list = location.read();
    checkpoint_lsn_ = find_start_lsn(location, list);
    renew_truncation_point(location, list, *checkpoint_lsn_);
  }
  if ((s_.sb.incompat & format::incompat_log_file) == 0) return;
  // LOGFILE-3: the epoch of an unclean pool may be in a cache only; a head two ahead fits nothing.
  if (unclean_) {
    pool::write_superblock(s_.service_alone(), s_.sb);
    s_.require_healthy();
  }
  in_file_->announce(s_.sb.epoch + 1);
}

void speculative::start() {
  if (table_ == nullptr) table_ = std::make_unique<block_table>(s_);
  if ((s_.sb.incompat & format::incompat_log_file) != 0) {
    if (s_.read_only) return look_at_log_file();  // nothing will be appended
    if (location_ == nullptr) {
      auto made = log_in_file::made(s_);
      in_file_ = made.get();
      location_ = std::move(made);
    }
    in_file_->begin(s_.sb.epoch);
  }
  log_location& location = find_location(true);
  segment_list list = location.read();
  find_log();  // of a log that an engine switch has made
  location.retain(list);
  const uint64_t truncation_point = find_truncation_point(s_, location, list);
  const uint64_t checkpoint_lsn = unclean_ ? std::max(recovered_, truncation_point)  // UNRES-4
                                  : checkpoint_lsn_ ? *checkpoint_lsn_
                                                    : find_start_lsn(location, list);
  log_ = std::make_unique<commit_log>(
      s_, location, list, unresolved_ != nullptr ? truncation_point : checkpoint_lsn, last_frames_);
  checkpoint_ = std::make_unique<checkpoint>(s_, *table_, *log_, checkpoint_lsn, unresolved_.get());
  room_ = std::make_unique<log_room>(s_, location, *log_, *checkpoint_, std::move(list));
  scrubber_ = std::make_unique<log_scrubber>(s_, location, *log_, *checkpoint_, *room_);
  for (lane_state& l : lanes_) l.last_lsn = checkpoint_lsn;
  log_->drawn(checkpoint_lsn);
  if (unclean_ || s_.read_only) return;
  scrubber_->repair_heads();  // LOGSCRUB-4
}

// The LSN above which a session's LSNs begin, after a clean closing (TRUNC-1, TRUNC-2).
uint64_t speculative::find_start_lsn(const log_location& location, const segment_list& list) const {
  const uint64_t truncation_point = find_truncation_point(s_, location, list);
  if (look_at_truncation_point(s_, location) == truncation_words::alike && location.was_closed())
    return truncation_point;
  const uint64_t highest = highest_frame(s_, location, list);
  require_lsn(s_, highest);
  return std::max(truncation_point, highest);
}

// LOGFILE-9. The words of a closed log have all of it, unless damaged; others may be in a cache.
void speculative::renew_truncation_point(log_location& location, const segment_list& list,
                                         uint64_t checkpoint_lsn) {
  const uint64_t truncated_at = read_truncation_point(s_, location).lsn;
  if (checkpoint_lsn == 0 || (checkpoint_lsn <= truncated_at && location.was_closed())) return;
  medium::writer& w = s_.service_alone();
  if (location.is_apart()) location.keep(w, list);  // LOGFILE-5: also where a page of it is lost
  commit_log log(s_, location, list, truncated_at, {});
  log.write_truncation_point(w, checkpoint_lsn);
  log.fence_truncation_point(w);
  s_.require_healthy();
  if (checkpoint_lsn <= truncated_at || !location.was_closed()) return;
  s_.repaired.fetch_add(1, std::memory_order_relaxed);
  s_.events.post({SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED, scute_finder{},
                  location.truncation_at(0, 0), 4 * sizeof(uint64_t)});
}

// TRUNC-1, ROOM-9, MARK-1
void speculative::closing() {
  if (log_ == nullptr) return;
  if (log_->is_apart()) room_->give_back(s_.lanes.front());
  if (log_->is_apart()) checkpoint_->note_time(true);
  if (!log_->repeat_truncation_point(s_.service_alone())) return;
  log_->fence_truncation_point(s_.service_alone());
  s_.require_healthy();
}

void speculative::closed() noexcept {
  try {
    if (in_file_ != nullptr) in_file_->end();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the superblock says it as well
  }
}

bool speculative::give_back_log(pool::lane& l) {
  // A file of its own takes no chunks.
  return room_ != nullptr && !log_->is_apart() && room_->is_larger() && room_->give_back(l);
}

// In memory: while transactions come in, each look checkpoints the older half of the dirty bytes,
// so hot ones are written back less often. It checkpoints all if the log would be nearly full after
// two more such looks, and when a look finds nothing new.
bool speculative::background() noexcept {
  if (s_.medium->failed() || checkpoint_ == nullptr) return false;
  const uint64_t now = log_->appended(), begun = log_->begun();
  const bool busy = std::exchange(seen_, now) != now;
  const uint64_t segments = begun - std::exchange(begun_, begun);
  // A sync of the pool's file writes all of its dirty pages, and delays the log's syncs. So it is
  // not done while transactions come in, unless it is due.
  constexpr unsigned looks_max = 50;
  if (log_->is_apart() && busy && !log_->is_half_full() && ++looks_ < looks_max) return true;
  looks_ = 0;
  try {
    room_->keep_less();
    const bool repaired = !s_.lost_log.pending() || scrubber_->repair_lost_pages();
    if (!busy && repaired && checkpoint_->rests()) {
      if (log_->is_apart()) checkpoint_->note_time(false);
      // Chunks go back by steps, which are a lane's.
      if (!log_->is_apart() || !room_->is_larger()) return false;
      return !room_->take_off(s_.lanes.front()) && !room_->is_reserved();  // ROOM-9
    }
    if (log_->is_apart()) return checkpoint_->cycle() || room_->is_larger() || !repaired;
    const bool at_leisure = busy && log_->until_nearly_full() > 2 * segments;
    return checkpoint_->cycle_part(at_leisure ? 2 : 1) || busy || !repaired;
  } catch (const std::exception&) {
    return true;  // another time, or the next commit fails
  }
}

// For any lane, which may be another thread's: nothing is written through it.
void speculative::drain(pool::lane&) {
  if (s_.medium->failed() || checkpoint_ == nullptr) return;
  try {
    checkpoint_->all();
  } catch (const failure&) {  // NOLINT(bugprone-empty-catch): of the medium, which the caller asks
  }
}

// ---- records and frames -------------------------------------------------------------------------

void speculative::plan(lane_state& mine, std::span<const pool::patch> patches) {
  for (const pool::patch& p : patches)
    mine.records.push_back(
        {p.offset, static_cast<const std::byte*>(p.src), p.length, format::record_kind::data});
}

// Makes room for all frames of the lane's records, before anything is pinned or drawn (SPEC-6).
// Callers call room_->help() first, before they take the stream.
void speculative::make_room(pool::lane& l, lane_state& mine, commit_log::stream_guard& turn,
                            growth may) {
  if (log_->has_room(l.index, mine.records)) return;
  if (room_->make(l, mine.records, turn)) return;
  const commit_log::need need = log_->need_of(l.index, mine.records);
  if (may == growth::never) room_->refuse(need);
  // Lending runs steps in this lane: the planned records wait.
  lane_state planned;
  std::swap(planned.records, mine.records);
  std::swap(planned.blocks, mine.blocks);
  std::swap(planned.pinned, mine.pinned);
  std::swap(planned.copies, mine.copies);
  std::vector<pool::piece> pieces = std::exchange(l.pieces, {});
  room_->lend(l, need);
  std::swap(planned.records, mine.records);
  std::swap(planned.blocks, mine.blocks);
  std::swap(planned.pinned, mine.pinned);
  std::swap(planned.copies, mine.copies);
  l.pieces = std::move(pieces);
  // The steps were appended in between.
  if (!room_->make(l, mine.records, turn)) room_->refuse(need);
}

// SPEC-3
uint64_t speculative::draw(lane_state& mine) noexcept {
  uint64_t highest = std::max({mine.last_lsn, log_->drawn(), checkpoint_->checkpoint_lsn()});
  for (const uint64_t b : mine.blocks)
    highest = std::max(highest, table_->at(b).newest_lsn.load(std::memory_order_acquire));
  mine.last_lsn = highest + 1;
  log_->drawn(mine.last_lsn);
  return mine.last_lsn;
}

void speculative::find_blocks(lane_state& mine) {
  mine.blocks.clear();
  for (const log_range& r : mine.records)
    for_each_page(r.offset, r.length, [&](uint64_t at, uint64_t) {
      const uint64_t b = table_->number_of(at);
      if (mine.blocks.empty() || mine.blocks.back() != b) mine.blocks.push_back(b);
    });
}

// ---- stores -------------------------------------------------------------------------------------

// Stores the parity of a cell whose old bytes become fresh ones, under its stripe. Then these may
// be stored there: the fault handler knows both
// (core/shared/parity/in_flight_write.hpp, INFLIGHT-2).
void speculative::store_parity(pool::lane& l, lane_state& mine, uint64_t offset, uint64_t parity,
                               uint32_t n, const std::byte* old, const std::byte* fresh,
                               how stores) noexcept {
  const uint32_t parities = s_.geo.parity;
  std::byte* const next = mine.scratch.data() + block_table::page;
  if (parities == 1) {
    codec::xor_encode(next, s_.at(parity), old, fresh, n);
  } else {
    // The old bytes are read once: all parities have to be of the same ones.
    codec::xor_delta(mine.scratch.data(), old, fresh, n);
    for (uint32_t k = 0; k < parities; ++k)
      pool::next_parity(s_, offset, parity, mine.scratch.data(), n, k, next + k * n);
  }
  pool::in_flight_scope::piece(offset, parity, n, fresh, next, nullptr);
  pool::enter_phase(pool::in_flight_write::phase::parity);
  const uint64_t b = table_->number_of(offset);
  for (uint32_t k = 0; k < parities; ++k) {
    const uint64_t at = parity + k * s_.geo.row_size;
    if (stores == how::streamed) {
      l.w.stream(s_.at(at), next + k * n, n, medium::purpose::parity);
    } else {
      l.w.store(s_.at(at), next + k * n, n);
      table_->stored_parity(b, at, n);
    }
  }
  pool::enter_phase(pool::in_flight_write::phase::data);
}

// Step 3, of l.pieces. Cached stores: the frames have these bytes.
void speculative::apply(pool::lane& l, lane_state& mine, uint64_t lsn, how stores) noexcept {
  const medium::cost_scope as(medium::cost_part::parity);
  for (const pool::piece& p : l.pieces) {
    if (!s_.locks.lock_exclusive(p.stripe)) l.w.count.lock_waits.add(1);
    {
      const pool::in_flight_scope here(s_, p.stripe, pool::in_flight_write::mode::exclusive);
      const uint64_t b = table_->number_of(p.offset);
      std::byte* const data = s_.at(p.offset);
      if (s_.has_parity)
        store_parity(l, mine, p.offset, p.parity, p.length, pool::old_bytes(s_, p), p.src, stores);
      if (stores == how::streamed) {
        l.w.stream(data, p.src, p.length, p.why);
        table_->placed(p.offset, p.length);
      } else {
        l.w.store(data, p.src, p.length);
        table_->stored(b, p.offset, p.length, block_table::bytes_are::in_record);
      }
      table_->recorded(b, lsn);
    }
    s_.locks.unlock_exclusive(
        p.stripe,
        stores == how::streamed ? pool::stripes::stores::streamed : pool::stripes::stores::ordinary,
        [](pool::stripe_owner o) noexcept { return o; });
  }
}

// Prefetches the parts of the table that step 3 needs, while the fence waits.
void speculative::fetch_ahead(const pool::lane& l, const lane_state& mine) const noexcept {
  for (const uint64_t b : mine.blocks) table_->prefetch_block(b);
  for (const pool::piece& p : l.pieces) {
    table_->prefetch_page(p.offset);
    for (uint32_t k = 0; k < s_.geo.parity; ++k)
      table_->prefetch_page(p.parity + k * s_.geo.row_size);
  }
}

// ---- transactions -------------------------------------------------------------------------------

// Steps 1 to 3 for what the lane's state and l.pieces have.
void speculative::decide(pool::lane& l, lane_state& mine, commit_log::stream_guard& turn,
                         uint32_t flags, how stores, std::span<const tx::inplace_range> ranges) {
  const pins held(*this, mine);
  const flight under_way(*checkpoint_, l.index, mine.last_lsn);
  const uint64_t lsn = draw(mine);
  log_->append(l.w, l.index, mine.records, flags, lsn, l.transaction);
  turn.end();
  fetch_ahead(l, mine);
  log_->fence(l.w, l.index, fence_site::spec_decide);
  s_.require_healthy();
  log_->fenced(l.index, lsn);
  l.begun.store(++l.sequence, std::memory_order_release);
  apply(l, mine, lsn, stores);
  apply_in_place(l, mine, lsn, ranges);
  l.applied.store(l.sequence, std::memory_order_release);
  if (stores == how::streamed) l.w.fence(fence_site::spec_placed);
}

void speculative::commit(pool::lane& l, const tx::write_set& w) {
  if (w.patches.empty() && w.in_place.empty()) return;
  s_.require_healthy();
  if (w.in_place.empty() && room_->is_larger()) room_->shrink(l);
  lane_state& mine = lanes_[l.index];
  mine.start();
  keep_in_place(s_, l, w.in_place);
  plan_in_place(mine, w.in_place);
  plan(mine, w.patches);
  find_blocks(mine);
  pool::split(s_, l, w.patches);  // takes memory; nothing after it does (CLOG-6)
  room_->help();
  commit_log::stream_guard turn(*log_);
  make_room(l, mine, turn, growth::allowed);
  decide(l, mine, turn, 0, how::cached, w.in_place);
  s_.require_healthy();
  end_reservation(l, mine);
  s_.watch.deferred();
}

// Nothing goes back while anything is reserved, so a thread with ranges in place tries at the end.
void speculative::end_reservation(pool::lane& l, lane_state& mine) noexcept {
  if (room_ == nullptr) return;  // a pool with a log of its own, opened read-only
  room_->release(std::exchange(mine.reserved, 0));
  if (room_->is_larger()) room_->shrink(l);
}

void speculative::step(pool::lane& l, std::span<const pool::patch> patches) {
  s_.require_healthy();
  lane_state& mine = lanes_[l.index];
  mine.start();
  plan(mine, patches);
  find_blocks(mine);
  pool::split(s_, l, patches);
  room_->help();
  commit_log::stream_guard turn(*log_);
  make_room(l, mine, turn, growth::never);
  decide(l, mine, turn, frame_step, how::cached, {});
  s_.watch.deferred();
}

// The record says that the medium has the bytes, whichever of them are there by then (SPEC-4).
void speculative::prewrite(pool::lane& l, std::span<const pool::patch> patches) {
  if (patches.empty()) return;
  s_.require_healthy();
  lane_state& mine = lanes_[l.index];
  mine.start();
  for (const pool::patch& p : patches)
    mine.records.push_back({p.offset, nullptr, p.length, format::record_kind::placed});
  find_blocks(mine);
  pool::split(s_, l, patches);
  room_->help();
  commit_log::stream_guard turn(*log_);
  make_room(l, mine, turn, growth::never);
  decide(l, mine, turn, frame_step, how::streamed, {});
  s_.require_healthy();
  s_.watch.deferred();
}

void speculative::write_unlogged(pool::lane& l, std::span<const pool::patch> patches) {
  pool::split(s_, l, patches);
  apply(l, lanes_[l.index], 0, how::streamed);
}

// SPEC-12
void speculative::prepare_reuse(pool::lane&, uint64_t chunk, uint64_t length) {
  if (log_->is_apart()) return;
  uint64_t highest = 0;
  for_each_page(chunk, length, [&](uint64_t at, uint64_t) {
    const block_table::block& b = table_->at(table_->number_of(at));
    if (b.first.load(std::memory_order_relaxed) != 0 ||
        b.newest_lsn.load(std::memory_order_relaxed) > log_->truncation_point())
      highest = std::max(highest, b.newest_lsn.load(std::memory_order_relaxed));
  });
  checkpoint_->past(highest);
}

}  // namespace scute::core::engine
