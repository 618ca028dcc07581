// SPDX-License-Identifier: BSD-3-Clause
#include "engine/spec/spec.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/planted.hpp"
#include "base/rounding.hpp"
#include "codec/parity.hpp"
#include "engine/common/in_place.hpp"
#include "engine/spec/replay.hpp"
#include "pool/columns.hpp"
#include "pool/fragment.hpp"
#include "pool/grip.hpp"
#include "pool/optimistic.hpp"
#include "tx/conflict.hpp"

namespace scute::core::engine {
namespace {

// Calls fn(offset, n) for the parts of a range that lie in one page each.
template <typename Fn>
void for_each_page(uint64_t offset, uint64_t length, Fn&& fn) {
  while (length != 0) {
    const uint64_t n = std::min(length, block_table::page - offset % block_table::page);
    fn(offset, n);
    offset += n;
    length -= n;
  }
}

struct granules {
  uint64_t begin, end;
  explicit granules(const tx::inplace_range& r) noexcept
      : begin(round_down(r.offset, granule_size)),
        end(round_up(r.offset + r.length, granule_size)) {}
};

}  // namespace

// Published before the clocks are read, until all that the sequence stands for is applied (SPEC-3).
class spec::flight {
 public:
  flight(fold& f, uint32_t lane, uint64_t bound) noexcept : fold_(f), lane_(lane) {
    if (!SCUTE_PLANTED(spec_bound)) fold_.enter(lane_, bound);
  }
  ~flight() { fold_.leave(lane_); }
  flight(const flight&) = delete;
  flight& operator=(const flight&) = delete;

 private:
  fold& fold_;
  uint32_t lane_;
};

// Blocks with ranges open in place, pinned under their stripes: so no fold is at one of them (SPEC-6).
class spec::pins {
 public:
  pins(spec& e, lane_state& mine) noexcept : e_(e), mine_(mine) {
    for (const uint64_t b : mine_.pinned) change(b, 1);
  }
  ~pins() {
    for (const uint64_t b : mine_.pinned) change(b, -1);
    mine_.pinned.clear();
  }
  pins(const pins&) = delete;
  pins& operator=(const pins&) = delete;

 private:
  void change(uint64_t b, int by) noexcept {
    const pool::held_stripe held(e_.s_.locks, e_.table_->stripe_of(b));
    e_.table_->at(b).pins.fetch_add(static_cast<uint32_t>(by), std::memory_order_relaxed);
  }
  spec& e_;
  lane_state& mine_;
};

spec::spec(pool::state& s, heap::heap& h) : s_(s), heap_(h) {
  for (uint32_t i = 0; i < s.geo.lane_count; ++i)
    lanes_.emplace_back().scratch.resize((1 + uint64_t{s.geo.parity}) * block_table::page);
}
spec::~spec() = default;

// ---- its life -----------------------------------------------------------------------------------------

tx::recovery_report spec::recover(medium::writer& w, tx::recovery_watch* watch) {
  std::optional<segment_list> list = read_list(s_);
  if (!list)
    throw failure(
        SCUTE_E_CORRUPT,
        s_.path +
            ": the list of log segments is damaged in all copies; restore the pool from a backup");
  // REPLAY-1: a dead process may have stored it, and no fence may have completed that.
  if (!SCUTE_PLANTED(spec_replay_list)) write_list(s_, w, *list);
  const replayed r = replay(s_, w, *list, watch);
  // Everything is where it belongs, durably: nothing of the log is needed any more.
  commit_log log(s_, *list, r.horizon, r.last_frames);
  log.write_horizon(w, std::max(r.highest, r.horizon));
  w.fence(fence_site::horizon);
  s_.require_healthy();
  recovered_ = r.highest;
  return r.report;
}

void spec::start() {
  std::optional<segment_list> list = read_list(s_);
  if (!list)
    throw failure(
        SCUTE_E_CORRUPT,
        s_.path +
            ": the list of log segments is damaged in all copies; restore the pool from a backup");
  for (const uint64_t c : list->chunks)
    if (!s_.overlaid.touches(c, 1)) s_.overlaid.add(c, s_.geo.chunk_size, nullptr);
  heap_.retain(list->chunks);
  const uint64_t horizon = std::max(recovered_, find_horizon(s_, *list));
  table_ = std::make_unique<block_table>(s_);
  log_ = std::make_unique<commit_log>(s_, *list, horizon, std::vector<uint64_t>());
  fold_ = std::make_unique<fold>(s_, *table_, *log_, horizon);
  room_ = std::make_unique<log_room>(s_, heap_, *log_, *fold_, std::move(*list));
  for (lane_state& l : lanes_) l.clock = horizon;
}

tx::engine::log_state spec::log() const noexcept {
  if (log_ == nullptr) return {};
  const commit_log::fill f = log_->how_full();
  return {f.all, f.used, log_->horizon()};
}

bool spec::background() noexcept {
  if (s_.medium->failed()) return false;
  try {
    return fold_->cycle(fold::horizon_is::durable_next_time);
  } catch (const std::exception&) {
    return true;  // another time, or the next commit is told
  }
}

void spec::drain(pool::lane& l) noexcept {
  if (s_.medium->failed()) return;
  try {
    if (!table_->is_clean()) fold_->past(table_->highest());
    if (room_->is_larger()) room_->shrink(l);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the log has it
  }
}

// ---- records and frames ---------------------------------------------------------------------------------

void spec::plan(lane_state& mine, std::span<const pool::patch> patches) {
  for (const pool::patch& p : patches)
    mine.records.push_back(
        {p.offset, static_cast<const std::byte*>(p.src), p.length, format::record_kind::data});
}

// What the ranges hold now, by whole granules. They come first: patches of the same transaction in the same granules count.
void spec::plan_in_place(lane_state& mine, std::span<const tx::inplace_range> ranges) {
  for (const tx::inplace_range& r : ranges) {
    const granules g(r);
    mine.records.push_back({g.begin, s_.at(g.begin), g.end - g.begin, format::record_kind::data});
    for_each_page(g.begin, g.end - g.begin,
                  [&](uint64_t at, uint64_t) { mine.pinned.push_back(table_->number_of(at)); });
  }
  std::ranges::sort(mine.pinned);
  const auto twice = std::ranges::unique(mine.pinned);
  mine.pinned.erase(twice.begin(), twice.end());
}

// Room for all frames of the lane's records, before anything is pinned or drawn (SPEC-6).
void spec::make_room(pool::lane& l, lane_state& mine, growth may) {
  const commit_log::need need = log_->need_of(mine.records);
  if (room_->make(l, need)) return;
  if (may == growth::never) room_->refuse(need);
  // Lending runs steps in this lane: what is planned waits.
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
  if (!room_->make(l, need)) room_->refuse(need);
}

// SPEC-3
uint64_t spec::draw(lane_state& mine) noexcept {
  uint64_t highest = std::max(mine.clock, SCUTE_PLANTED(spec_floor) ? 0 : fold_->floor());
  for (const uint64_t b : mine.blocks)
    if (!SCUTE_PLANTED(spec_clock))
      highest = std::max(highest, table_->at(b).clock.load(std::memory_order_acquire));
  return mine.clock = highest + 1;
}

void spec::find_blocks(lane_state& mine) {
  mine.blocks.clear();
  for (const log_range& r : mine.records)
    for_each_page(r.offset, r.length, [&](uint64_t at, uint64_t) {
      const uint64_t b = table_->number_of(at);
      if (mine.blocks.empty() || mine.blocks.back() != b) mine.blocks.push_back(b);
    });
}

// ---- stores -----------------------------------------------------------------------------------------------

// The parity of a cell whose bytes change by what mine.delta() has, under its stripe. Then fresh bytes may be stored there: the
// handler of a fault knows both from here on (pool/grip.hpp, GRIP-2).
void spec::store_parity(pool::lane& l, lane_state& mine, uint64_t offset, uint64_t parity,
                        uint32_t n, const std::byte* fresh, how stores) noexcept {
  const uint32_t parities = s_.geo.parity;
  std::byte* const next = mine.scratch.data() + block_table::page;
  for (uint32_t k = 0; k < parities; ++k)
    pool::next_parity(s_, offset, parity, mine.scratch.data(), n, k, next + k * n);
  pool::grip_scope::piece(offset, parity, n, fresh, next, nullptr);
  pool::enter_phase(pool::grip::phase::parity);
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
  pool::enter_phase(pool::grip::phase::data);
}

// Step 3, of l.pieces. Cached stores: the frames have these bytes.
void spec::apply(pool::lane& l, lane_state& mine, uint64_t sequence, how stores) noexcept {
  const medium::cost_scope as(medium::cost_part::parity);
  for (const pool::piece& p : l.pieces) {
    if (!s_.locks.lock_exclusive(p.stripe)) l.w.count.lock_waits.add(1);
    {
      const pool::grip_scope here(s_, p.stripe, pool::grip::mode::exclusive);
      const uint64_t b = table_->number_of(p.offset);
      std::byte* const data = s_.at(p.offset);
      if (s_.has_parity) {
        codec::xor_delta(mine.scratch.data(), data, p.src, p.length);
        store_parity(l, mine, p.offset, p.parity, p.length, p.src, stores);
      }
      if (stores == how::streamed) {
        l.w.stream(data, p.src, p.length, p.why);
      } else {
        l.w.store(data, p.src, p.length);
        table_->stored(b, p.offset, p.length, block_table::bytes_are::in_record);
      }
      table_->recorded(b, sequence);
    }
    s_.locks.unlock_exclusive(
        p.stripe,
        stores == how::streamed ? pool::stripes::stores::streamed : pool::stripes::stores::ordinary,
        [](pool::stripe_owner o) noexcept { return o; });
  }
}

// Ranges hold their new bytes; the parity follows, and they are closed.
void spec::apply_in_place(pool::lane& l, lane_state& mine, uint64_t sequence,
                          std::span<const tx::inplace_range> ranges) noexcept {
  const std::byte* now = l.in_place.data();
  for (const tx::inplace_range& r : ranges) {
    pool::for_each_block(
        s_.geo, r.offset, r.length, [&](uint64_t at, const pool::cell& c, uint64_t n) {
          const uint64_t b = table_->number_of(at);
          const pool::held_stripe held(s_.locks, table_->stripe_of(b));
          const pool::grip_scope here(s_, table_->stripe_of(b), pool::grip::mode::exclusive);
          const std::byte *old = r.old + (at - r.offset), *fresh = now + (at - r.offset);
          if (s_.has_parity) {
            codec::xor_delta(mine.scratch.data(), old, fresh, n);
            store_parity(l, mine, at, pool::parity_offset(s_.geo, c.zone, c.column),
                         static_cast<uint32_t>(n), fresh, how::cached);
          }
          // The frames have all granules that the range touches.
          const uint64_t begin = round_down(at, granule_size);
          table_->stored(b, begin, round_up(at + n, granule_size) - begin,
                         block_table::bytes_are::in_record);
          table_->recorded(b, sequence);
          s_.overlaid.remove(at);
        });
    now += r.length;
  }
}

// ---- transactions -------------------------------------------------------------------------------------------

// Steps 1 to 3 for what the lane's state and l.pieces have.
void spec::decide(pool::lane& l, lane_state& mine, uint32_t flags, how stores,
                  std::span<const tx::inplace_range> ranges) {
  const pins held(*this, mine);
  const flight under_way(*fold_, l.index, mine.clock);
  const uint64_t sequence = draw(mine);
  log_->append(l.w, l.index, mine.records, flags, sequence, l.transaction);
  l.w.fence(fence_site::decide);
  s_.require_healthy();
  ++l.sequence;
  apply(l, mine, sequence, stores);
  apply_in_place(l, mine, sequence, ranges);
  if (stores == how::streamed) l.w.fence(fence_site::apply);
}

void spec::commit(pool::lane& l, const tx::write_set& w) {
  if (w.patches.empty() && w.in_place.empty()) return;
  s_.require_healthy();
  if (room_->is_larger()) room_->shrink(l);
  lane_state& mine = lanes_[l.index];
  mine.start();
  keep_in_place(s_, l, w.in_place);
  plan_in_place(mine, w.in_place);
  plan(mine, w.patches);
  find_blocks(mine);
  make_room(l, mine, growth::allowed);
  pool::split(s_, l, w.patches);
  decide(l, mine, 0, how::cached, w.in_place);
  s_.require_healthy();
  room_->release(std::exchange(mine.reserved, 0));
  s_.watch.deferred();
}

void spec::step(pool::lane& l, std::span<const pool::patch> patches) {
  s_.require_healthy();
  lane_state& mine = lanes_[l.index];
  mine.start();
  plan(mine, patches);
  find_blocks(mine);
  make_room(l, mine, growth::never);
  pool::split(s_, l, patches);
  decide(l, mine, frame_step, how::cached, {});
  s_.watch.deferred();
}

// The record says that the medium has the bytes, whatever of them is there by then (SPEC-4).
void spec::stage(pool::lane& l, std::span<const pool::patch> patches) {
  if (patches.empty()) return;
  s_.require_healthy();
  lane_state& mine = lanes_[l.index];
  mine.start();
  for (const pool::patch& p : patches)
    mine.records.push_back({p.offset, nullptr, p.length, format::record_kind::placed});
  find_blocks(mine);
  make_room(l, mine, growth::never);
  pool::split(s_, l, patches);
  decide(l, mine, frame_step, how::streamed, {});
  s_.require_healthy();
  s_.watch.deferred();
}

// The parts of a range that are open in place already, as far as their granules have images: nothing has to be logged for
// them (SPEC-2). Under the stripe a fold sees either neither of the two, or the range, and renews it (SPEC-7).
bool spec::open_imaged(pool::lane& l, const tx::inplace_range& r) {
  bool all = true;
  pool::for_each_block(s_.geo, r.offset, r.length, [&](uint64_t at, const pool::cell&, uint64_t n) {
    all = open_part(l, r, at, n, 0) && all;
  });
  return all;
}

// One part in one block. sequence: of the undo record that it has by now; 0: none, and it is opened only if it needs none.
// False if it is not open.
bool spec::open_part(pool::lane& l, const tx::inplace_range& r, uint64_t at, uint64_t n,
                     uint64_t sequence) {
  const uint64_t b = table_->number_of(at);
  const uint64_t begin = round_down(at, granule_size), end = round_up(at + n, granule_size);
  const pool::held_stripe held(s_.locks, table_->stripe_of(b));
  if (sequence == 0 && !table_->imaged(begin, end - begin) && !SCUTE_PLANTED(spec_image))
    return false;
  s_.overlaid.add(at, n, r.old + (at - r.offset), l.index);
  // A fold may have come between the record and the range (TABLE-2).
  if (sequence != 0 && !SCUTE_PLANTED(spec_open_listed)) table_->recorded(b, sequence);
  // It will be, at any time.
  table_->stored(b, at, n, block_table::bytes_are::elsewhere);
  return true;
}

void spec::save(pool::lane& l, const tx::inplace_range& r, std::span<const tx::member> fragments) {
  s_.require_healthy();
  for (int attempt = 0; const tx::change c = tx::find_changed(s_, l, fragments); ++attempt)
    tx::mend_or_refuse(s_, l, c, attempt);
  lane_state& mine = lanes_[l.index];
  const granules g(r);
  mine.reserved += room_->reserve(l, g.begin, g.end - g.begin);
  try {
    if (open_imaged(l, r)) return s_.watch.deferred();
    // What of it is open by now is renewed by folds, and logged once more.
    mine.start();
    std::byte* const old = mine.copies.extend(g.end - g.begin);
    {
      const pool::optimistic_reads mark;
      std::memcpy(old, s_.at(g.begin), g.end - g.begin);
    }
    s_.overlaid.substitute(g.begin, old, g.end - g.begin);
    std::memcpy(old + (r.offset - g.begin), r.old, r.length);
    mine.records.push_back({g.begin, old, g.end - g.begin, format::record_kind::undo});
    find_blocks(mine);
    make_room(l, mine, growth::allowed);
    const flight under_way(*fold_, l.index, mine.clock);
    const uint64_t sequence = draw(mine);
    log_->append(l.w, l.index, mine.records, frame_step, sequence, l.transaction);
    l.w.fence(fence_site::save);
    s_.require_healthy();
    // First all clocks: there is a record of this sequence now, whatever becomes of the range (SPEC-3).
    for (const uint64_t b : mine.blocks) {
      const pool::held_stripe held(s_.locks, table_->stripe_of(b));
      table_->recorded(b, sequence);
    }
    pool::for_each_block(s_.geo, r.offset, r.length,
                         [&](uint64_t at, const pool::cell&, uint64_t n) {
                           if (!s_.overlaid.open_by(at, l.index)) open_part(l, r, at, n, sequence);
                         });
  } catch (...) {
    pool::end_in_place(s_, r.offset, r.length);
    throw;
  }
  s_.watch.deferred();
}

void spec::restore(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  lane_state& mine = lanes_[l.index];
  switch_point();  // until now the user's stores were there
  for (const tx::inplace_range& r : ranges)
    pool::for_each_block(s_.geo, r.offset, r.length,
                         [&](uint64_t at, const pool::cell&, uint64_t n) {
                           const uint32_t stripe = table_->stripe_of(table_->number_of(at));
                           s_.locks.lock_exclusive(stripe);
                           {
                             const pool::grip_scope here(s_, stripe, pool::grip::mode::exclusive);
                             // Its lines are dirty as long as it is open (SPEC-9).
                             l.w.store(s_.at(at), r.old + (at - r.offset), n);
                           }
                           s_.locks.unlock_exclusive(stripe);
                         });
  close_in_place(s_, ranges);
  room_->release(std::exchange(mine.reserved, 0));
}

void spec::write_unlogged(pool::lane& l, std::span<const pool::patch> patches) {
  pool::split(s_, l, patches);
  apply(l, lanes_[l.index], 0, how::streamed);
}

// SPEC-12
void spec::prepare_reuse(pool::lane&, uint64_t chunk, uint64_t length) {
  uint64_t highest = 0;
  for_each_page(chunk, length, [&](uint64_t at, uint64_t) {
    const block_table::block& b = table_->at(table_->number_of(at));
    if (b.first.load(std::memory_order_relaxed) != 0 ||
        b.clock.load(std::memory_order_relaxed) > log_->horizon())
      highest = std::max(highest, b.clock.load(std::memory_order_relaxed));
  });
  if (!SCUTE_PLANTED(spec_reuse)) fold_->past(highest);
}

}  // namespace scute::core::engine
