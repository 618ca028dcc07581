// SPDX-License-Identifier: BSD-3-Clause
// Ranges in place with engine `spec`: opened under a record that the log has already, or under an
// undo record; committed with their final bytes in the frames; aborted by cached stores.
#include <algorithm>
#include <cstring>

#include "base/rounding.hpp"
#include "core/engine/common/in_place.hpp"
#include "core/engine/speculative/granules.hpp"
#include "core/engine/speculative/log_file/pages.hpp"
#include "core/engine/speculative/speculative.hpp"
#include "core/engine/speculative/under_way.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/tx/conflict.hpp"

namespace scute::core::engine {
// Makes records of the bytes of the ranges, by whole granules. They come first: later patches of
// the same transaction in the same granules override them.
void speculative::plan_in_place(lane_state& mine, std::span<const tx::inplace_range> ranges) {
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

// The ranges hold their new bytes. Updates the parity, and closes them.
void speculative::apply_in_place(pool::lane& l, lane_state& mine, uint64_t lsn,
                                 std::span<const tx::inplace_range> ranges) noexcept {
  const std::byte* now = l.in_place.data();
  for (const tx::inplace_range& r : ranges) {
    pool::for_each_block(
        s_.geo, r.offset, r.length, [&](uint64_t at, const pool::cell& c, uint64_t n) {
          const uint64_t b = table_->number_of(at);
          const pool::held_stripe held(s_.locks, table_->stripe_of(b));
          const pool::in_flight_scope here(s_, table_->stripe_of(b),
                                           pool::in_flight_write::mode::exclusive);
          const std::byte *old = r.old + (at - r.offset), *fresh = now + (at - r.offset);
          if (s_.has_parity)
            store_parity(l, mine, at, pool::parity_offset(s_.geo, c.zone, c.column),
                         static_cast<uint32_t>(n), old, fresh, how::cached);
          // The frames have all granules that the range touches.
          const uint64_t begin = round_down(at, granule_size);
          table_->stored(b, begin, round_up(at + n, granule_size) - begin,
                         block_table::bytes_are::in_record);
          table_->recorded(b, lsn);
          s_.overlaid.remove(at);
        });
    now += r.length;
  }
}

// Opens the parts of a range whose granules have images: nothing has to be logged for them
// (SPEC-2). Both steps are under the stripe: a checkpoint comes before the test for images, or sees
// the range, which it renews (SPEC-7). Returns true if all parts are open.
bool speculative::open_imaged(pool::lane& l, const tx::inplace_range& r) {
  bool all = true;
  pool::for_each_block(s_.geo, r.offset, r.length, [&](uint64_t at, const pool::cell&, uint64_t n) {
    all = open_part(l, r, at, n, 0) && all;
  });
  return all;
}

// Opens one part in one block. LSN: of the undo record that it has by now; 0: none, and it is
// opened only if it needs none. Returns false if it is not open.
bool speculative::open_part(pool::lane& l, const tx::inplace_range& r, uint64_t at, uint64_t n,
                            uint64_t lsn) {
  const uint64_t b = table_->number_of(at);
  const uint64_t begin = round_down(at, granule_size), end = round_up(at + n, granule_size);
  const pool::held_stripe held(s_.locks, table_->stripe_of(b));
  if (lsn == 0 && !table_->imaged(begin, end - begin)) return false;
  s_.overlaid.add(at, n, r.old + (at - r.offset), l.index);
  // A checkpoint may have come between the record and the range (TABLE-2).
  if (lsn != 0) table_->recorded(b, lsn);
  // The user may store there at any time from now on.
  table_->stored(b, at, n, block_table::bytes_are::elsewhere);
  return true;
}

void speculative::save(pool::lane& l, const tx::inplace_range& r,
                       std::span<const tx::member> fragments) {
  s_.require_healthy();
  for (int attempt = 0; const tx::change c = tx::find_changed(s_, l, fragments); ++attempt)
    tx::repair_or_refuse(s_, l, c, attempt);
  open_range(l, r);
}

// Called under the object lock of the object of the range, which is unchanged since the transaction
// read it.
void speculative::open_range(pool::lane& l, const tx::inplace_range& r) {
  lane_state& mine = lanes_[l.index];
  const granules g(r);
  const uint64_t reserved = room_->reserve(l, g.begin, g.end - g.begin);
  mine.reserved += reserved;
  try {
    if (open_imaged(l, r)) return s_.watch.deferred();
    // The parts that are open by now are renewed by checkpoints, and logged again here.
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
    room_->help();
    commit_log::stream_guard turn(*log_);
    make_room(l, mine, turn, growth::allowed);
    const flight under_way(*checkpoint_, l.index, mine.last_lsn);
    const uint64_t lsn = draw(mine);
    log_->append(l.w, l.index, mine.records, frame_step, lsn, l.transaction);
    turn.end();
    log_->fence(l.w, l.index, fence_site::spec_save);
    s_.require_healthy();
    log_->fenced(l.index, lsn);
    // First note all LSNs: there is a record of this LSN now, whatever becomes of the range
    // (SPEC-3).
    for (const uint64_t b : mine.blocks) {
      const pool::held_stripe held(s_.locks, table_->stripe_of(b));
      table_->recorded(b, lsn);
    }
    pool::for_each_block(s_.geo, r.offset, r.length,
                         [&](uint64_t at, const pool::cell&, uint64_t n) {
                           if (!s_.overlaid.open_by(at, l.index)) open_part(l, r, at, n, lsn);
                         });
  } catch (...) {
    pool::end_in_place(s_, r.offset, r.length);
    mine.reserved -= reserved;
    room_->release(reserved);
    s_.watch.deferred();  // ROOM-9
    throw;
  }
  s_.watch.deferred();
}

void speculative::restore(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  lane_state& mine = lanes_[l.index];
  switch_point();  // until now the user's stores were there
  for (const tx::inplace_range& r : ranges)
    pool::for_each_block(
        s_.geo, r.offset, r.length, [&](uint64_t at, const pool::cell&, uint64_t n) {
          const uint32_t stripe = table_->stripe_of(table_->number_of(at));
          s_.locks.lock_exclusive(stripe);
          {
            const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
            // Its lines are dirty as long as it is open (SPEC-9).
            l.w.store(s_.at(at), r.old + (at - r.offset), n);
          }
          s_.locks.unlock_exclusive(stripe);
        });
  close_in_place(s_, ranges);
  end_reservation(l, mine);
  if (!ranges.empty()) s_.watch.deferred();  // CKPT-5
}

}  // namespace scute::core::engine
