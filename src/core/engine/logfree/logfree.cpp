// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/logfree.hpp"

#include <cstring>

#include "base/held_point.hpp"
#include "core/engine/common/in_place.hpp"
#include "core/engine/common/recovery.hpp"
#include "core/engine/logfree/short_commit.hpp"
#include "core/engine/logfree/window.hpp"
#include "core/shared/in_place_note.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/resolver.hpp"
#include "core/tx/conflict.hpp"

namespace scute::core::engine {

void logfree::list_extents(pool::lane& l, const tx::write_set& w) {
  auto& extents = extents_[l.index];
  extents.clear();
  for (const tx::member& m : w.members) {
    const bool adjacent = m.where.payload == m.where.header + format::header_size;
    const uint64_t extent = m.extent;
    extents.push_back({m.where.header, format::header_size + (adjacent ? extent : 0), m.fresh});
    if (!adjacent && extent != 0) extents.push_back({m.where.payload, extent, m.fresh});
  }
}

// Plans the window. Returns false if the transaction has to go through the log.
bool logfree::fits(pool::lane& l, const tx::write_set& w) {
  if (w.members.empty() || w.metadata || logged_.has_undo(l)) return false;
  return window(s_, l).plan(extents_[l.index]);
}

// 1. Members name each other, in the order in which they were sealed.
void logfree::make_ring(const tx::write_set& w) {
  const size_t n = w.members.size();
  if (n == 1) return;
  for (size_t i = 0; i < n; ++i) {
    const tx::member& m = w.members[i];
    format::fragment_header h;
    std::memcpy(&h, m.header, sizeof h);
    pool::join_ring(s_, m.where, h, m.covered, w.members[(i + 1) % n].where.header);
    std::memcpy(m.header, &h, sizeof h);
  }
}

// LF-7. Called while no thread waits for this lane: resolving waits for stripes, and for other
// threads that resolve (RESERVE-2).
void logfree::resolve(pool::lane& l, const tx::write_set& w) {
  if (!s_.resolving->pending()) return;
  for (const tx::member& m : w.members) s_.resolving->before_change(m.where);
  for (const extent& x : extents_[l.index]) s_.resolving->before_write(x.offset, x.length);
}

// Prepares the pieces that a window writes, and room for their deltas.
void logfree::prepare_window(pool::lane& l, const tx::write_set& w) {
  make_ring(w);
  if (!w.in_place.empty()) {
    const pool::in_flight_scope here(s_, l, pool::in_flight_write::phase::reading);
    keep_in_place(s_, l, w.in_place);
    for (const auto& r : w.in_place) l.w.flush(s_.at(r.offset), r.length, medium::purpose::data);
  }
  pool::split(s_, l, w.patches);
  const std::byte* now = l.in_place.data();
  for (const auto& r : w.in_place) {
    pool::split_in_place(s_, l, r.offset, r.old, now, r.length);
    now += r.length;
  }
  window(s_, l).prepare_deltas();
}

// Does everything up to the first store; after it nothing can fail. Returns false if in-place
// ranges have to be spilled, or have been. Throws if a member changed since the transaction read it
// (LF-9).
bool logfree::open_window(pool::lane& l, const tx::write_set& w) {
  prepare_window(l, w);
  for (int attempt = 0;; ++attempt) {
    if (!reservation_.require_columns(l)) return false;
    window(s_, l).take_back();
    if (!window(s_, l).enter()) return false;
    tx::change change;
    if (!s_.medium->failed()) {  // WIN-5
      const pool::in_flight_scope here(s_, l, pool::in_flight_write::phase::reading);
      change = tx::find_changed(s_, l, w.members);
      if (!change) return true;
    }
    window(s_, l).retreat();
    s_.require_healthy();
    if (change.damaged && reservation_.is_acquired(l))
      return false;  // a repair waits for columns (RESERVE-2)
    tx::repair_or_refuse(s_, l, change, attempt);
    window(s_, l).plan(extents_[l.index]);
  }
}

void logfree::commit_logged(pool::lane& l, const tx::write_set& w) {
  if (reservation_.is_acquired(l)) reservation_.spill_to_undo_log(l);
  logged_.commit(l, w);  // if it throws, restore() follows
  reservation_.end(l);
}

void logfree::commit(pool::lane& l, const tx::write_set& w) {
  s_.require_healthy();
  list_extents(l, w);
  resolve(l, w);
  const auto mine = reservation_.acquire(l);
  bool entered = false;
  try {
    entered = mine != column_reservation::outcome::logged && fits(l, w) && open_window(l, w);
  } catch (...) {
    reservation_.release(l);
    throw;
  }
  if (!entered) return commit_logged(l, w);
  commit_window(l, w);
}

// For the owner, before it acquires its reservation. While it has a reservation another thread may
// be writing undo entries for it; then acquire() returns `logged`.
bool logfree::went_to_log(const pool::lane& l) const noexcept {
  return column_reservation::is_none(l) && logged_.has_undo(l);
}

bool logfree::commit_short(pool::lane& l, std::span<const tx::small_member> members,
                           std::span<const tx::inplace_range> in_place, tx::slot_reclaimer* freed) {
  if (column_reservation::is_none(l) != in_place.empty() || went_to_log(l)) return false;
  return short_commit(s_, l, members, in_place, reservation_).run(freed);
}

// From the first store on: the window is open.
void logfree::commit_window(pool::lane& l, const tx::write_set& w) {
  window(s_, l).write_data();
  held_point();  // the stored data and the parity do not add up yet
  using write_back = window::write_back;
  l.w.fence(fence_site::window);
  ++l.sequence;
  window(s_, l).release_last();
  if (!s_.medium->failed()) {
    if (w.freed != nullptr) w.freed->give_back();
    window(s_, l).write_parity(write_back::later);
    for (const auto& r : w.in_place) pool::end_in_place(s_, r.offset, r.length);
  }
  if (reservation_.is_acquired(l)) reservation_.end(l);
  if (s_.medium->failed()) {
    window(s_, l).leave();
    return s_.require_healthy();
  }
  window(s_, l).defer();
  s_.watch.deferred();
}

// ---- with in-place ranges -----------------------------------------------------------------------

void logfree::save(pool::lane& l, const tx::inplace_range& r,
                   std::span<const tx::member> fragments) {
  s_.require_healthy();
  bool noted = false;
  if (s_.resolving->pending()) {
    noted = pool::has_earlier_note(s_, l);  // INPLACE-1
    for (const tx::member& m : fragments) {
      s_.resolving->before_change(m.where);
      s_.resolving->before_write(m.where.header, format::header_size);
      s_.resolving->before_write(m.where.payload, m.extent);
    }
  }
  const auto mine = reservation_.acquire(l);
  if (mine != column_reservation::outcome::logged && !logged_.has_undo(l) && !noted) {
    try {
      if (reservation_.add(l, r, fragments)) return reservation_.release(l);
    } catch (...) {
      reservation_.release(l);
      throw;
    }
  }
  logged_.save(l, r, fragments);
}

bool logfree::save_short(pool::lane& l, const tx::small_member& m, member_state known,
                         const tx::inplace_range& r, std::byte* old) {
  if (s_.resolving->pending() || s_.medium->failed() || went_to_log(l)) return false;
  return reservation_.add_small(l, m, known == member_state::known, r, old);
}

void logfree::restore(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  if (reservation_.acquire(l) != column_reservation::outcome::reserved) {
    logged_.restore(l, ranges);
    return reservation_.end(l);
  }
  const auto let_go = [&] {
    for (const uint32_t stripe : l.reserved.stripes) s_.locks.unlock_window(stripe, l.index);
    reservation_.end(l);
  };
  try {
    const pool::in_flight_scope here(s_, l, pool::in_flight_write::phase::reading);
    put_back(s_, l, ranges);
    close_in_place(s_, ranges);
  } catch (...) {
    // The medium has failed. Threads that wait for the columns must find that out (WIN-5).
    let_go();
    throw;
  }
  let_go();
}

// A step waits for columns, so the lane must hold none that cannot be taken from it (RESERVE-2).
void logfree::step(pool::lane& l, std::span<const pool::patch> patches) {
  if (reservation_.acquire(l) == column_reservation::outcome::reserved)
    reservation_.spill_to_undo_log(l);
  logged_.step(l, patches);
}

void logfree::prewrite(pool::lane& l, std::span<const pool::patch> patches) {
  if (reservation_.acquire(l) == column_reservation::outcome::reserved)
    reservation_.spill_to_undo_log(l);
  logged_.prewrite(l, patches);
}

void logfree::write_unlogged(pool::lane& l, std::span<const pool::patch> patches) {
  prewrite(l, patches);
}

void logfree::prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) {
  if (reservation_.acquire(l) == column_reservation::outcome::reserved)
    reservation_.spill_to_undo_log(l);
  logged_.prepare_reuse(l, chunk, length);
}

// ---- its life -----------------------------------------------------------------------------------

tx::recovery_report logfree::recover(medium::writer& w, tx::recovery_watch* watch) {
  return recover_from_logs(s_, w, open_parity::old, watch);
}

void logfree::resume(uint64_t resolved) {
  resolution_ = std::make_unique<resolution>(s_, resolved, s_.sb.epoch);
  s_.resolving = resolution_.get();
}

bool logfree::background() noexcept {
  bool any = false;
  for (pool::lane& l : s_.lanes) any = window(s_, l).age() || any;
  return any;
}

void logfree::drain(pool::lane& l) noexcept {
  window(s_, l).drain_wholly();
}

void logfree::make_way(uint32_t lane, uint32_t stripe) noexcept {
  if (lane >= s_.lanes.size()) return;
  window(s_, s_.lanes[lane]).drain();
  reservation_.take(s_.lanes[lane], stripe);
}

}  // namespace scute::core::engine
