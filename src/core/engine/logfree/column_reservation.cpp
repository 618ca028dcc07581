// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/column_reservation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/locks/waiting.hpp"
#include "core/engine/logfree/window.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/in_place_note.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/tx/conflict.hpp"

namespace scute::core::engine {
namespace {

enum state : uint32_t { nothing, busy, reserved, spilling, spilled };

void insert(std::vector<uint32_t>& sorted, uint32_t stripe) {
  sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), stripe), stripe);
}

}  // namespace

column_reservation::outcome column_reservation::acquire(pool::lane& l) noexcept {
  for (unsigned spins = 0;; spin_pause(spins)) {
    uint32_t seen = l.reservation.load(std::memory_order_acquire);
    if (seen == nothing) return outcome::none;
    if (seen == spilled) return outcome::logged;
    if (seen == reserved &&
        l.reservation.compare_exchange_strong(seen, busy, std::memory_order_acq_rel))
      return outcome::reserved;
  }
}

void column_reservation::release(pool::lane& l) noexcept {
  if (is_acquired(l)) l.reservation.store(reserved, std::memory_order_release);
}

bool column_reservation::is_acquired(const pool::lane& l) const noexcept {
  return l.reservation.load(std::memory_order_relaxed) == busy;
}

bool column_reservation::require_columns(pool::lane& l) noexcept {
  const bool holds = is_acquired(l);
  release(l);
  window(s_, l).require_columns();
  return !holds || acquire(l) == outcome::reserved;
}

void column_reservation::end(pool::lane& l) noexcept {
  SCUTE_ASSERT(l.reservation.load(std::memory_order_relaxed) != reserved);
  l.reserved.clear();
  fragments_[l.index].clear();
  if (hulls_[l.index].length != 0) pool::forget_in_place(s_, l);
  hulls_[l.index] = {};
  l.undo_image.clear();
  l.reservation.store(nothing, std::memory_order_release);
}

bool column_reservation::try_lock(pool::lane& l, uint32_t stripe) noexcept {
  bool have = s_.locks.try_lock_window(stripe, l.index);
  for (int attempt = 0; !have && attempt < 3; ++attempt) {
    // Waits for deferred parity, our own as well, or for another in-place range.
    s_.locks.ask(stripe);
    have = s_.locks.try_lock_window(stripe, l.index);
  }
  return have;
}

// Locks the stripes that l.now() lists and l.reserved does not, and adds them to `got`.
bool column_reservation::lock(pool::lane& l, std::vector<uint32_t>& got) {
  const auto& want = l.now().stripes;
  l.reserved.stripes.reserve(l.reserved.stripes.size() + want.size());
  got.reserve(want.size());
  for (const uint32_t stripe : want) {
    if (std::binary_search(l.reserved.stripes.begin(), l.reserved.stripes.end(), stripe)) continue;
    if (!try_lock(l, stripe)) {
      l.w.count.lock_waits.add(1);
      for (const uint32_t g : got) s_.locks.unlock_window(g, l.index);
      return false;
    }
    got.push_back(stripe);
  }
  return true;
}

bool column_reservation::add(pool::lane& l, const tx::inplace_range& r,
                             std::span<const tx::member> fragments) {
  // A fragment may come a second time; then its columns are held already. It is identified by its
  // header: another fragment may have the same columns, in another row, and must not be held as
  // well.
  auto& mine = fragments_[l.index];
  std::vector<extent> extents;
  std::vector<uint64_t> fresh;
  for (const tx::member& m : fragments) {
    if (std::find(mine.begin(), mine.end(), m.where.header) != mine.end()) continue;
    fresh.push_back(m.where.header);
    extents.push_back({m.where.header, format::header_size});
    extents.push_back({m.where.payload, m.extent});
  }
  const size_t undo_before = l.undo_image.size();
  const auto give_up = [&] {
    // The columns are not locked, so others may write there: the undo record of this range may be
    // out of date.
    l.undo_image.shrink(undo_before);
    if (is_acquired(l))
      spill_to_undo_log(l);
    else
      l.undo_image.clear();
    return false;
  };
  if (!window(s_, l).plan(extents) || overlap(l.now().columns, l.reserved.columns))
    return give_up();
  l.pieces.clear();  // of what the lane did before
  if (!require_columns(l)) return false;
  const auto& columns = l.now().columns;
  l.reserved.columns.reserve(l.reserved.columns.size() + columns.size());
  mine.reserve(mine.size() + fresh.size());
  std::vector<uint32_t> got;
  try {
    if (!log_.add_undo(l.undo_image, r.offset, r.old, r.length) || !lock(l, got)) return give_up();
  } catch (...) {
    l.undo_image.shrink(undo_before);
    throw;
  }
  tx::change change;
  {
    const pool::in_flight_scope here(s_, l, pool::in_flight_write::phase::reading);
    change = tx::find_changed(s_, l, fragments);
  }
  if (change) {
    for (const uint32_t g : got) s_.locks.unlock_window(g, l.index);
    if (change.damaged) return give_up();  // the general way repairs it, with no columns held
    l.undo_image.shrink(undo_before);
    l.now().clear();
    tx::refuse_change(s_, change.which->where.header);
  }
  for (const uint32_t g : got) insert(l.reserved.stripes, g);
  mine.insert(mine.end(), fresh.begin(), fresh.end());
  l.reserved.columns.insert(l.reserved.columns.end(), columns.begin(), columns.end());
  std::sort(l.reserved.columns.begin(), l.reserved.columns.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  l.now().clear();
  open(l, r, undo_before);
  return true;
}

// Called with the range's columns reserved and its undo record in the image, at undo_before. From
// here on another thread may spill the reservation.
void column_reservation::open(pool::lane& l, const tx::inplace_range& r, size_t undo_before) {
  l.reservation.store(busy, std::memory_order_relaxed);
  try {
    s_.require_healthy();  // WIN-5
    pool::overlay_in_place(s_, l, r.offset, r.old, r.length, pool::stripes_are::held);
  } catch (...) {
    // No other thread knows of the range, so it must not be rolled back over bytes that others
    // write there.
    l.undo_image.shrink(undo_before);
    if (undo_before != 0) {
      spill_to_undo_log(l);
    } else {
      for (const uint32_t stripe : l.reserved.stripes) s_.locks.unlock_window(stripe, l.index);
      end(l);
    }
    throw;
  }
  pool::data_range& hull = hulls_[l.index];
  const uint64_t end = std::max(hull.offset + hull.length, r.offset + r.length);
  hull.offset = hull.length == 0 ? r.offset : std::min(hull.offset, r.offset);
  hull.length = end - hull.offset;
  pool::note_in_place(s_, l, hull);
}

// ---- small objects (RESERVE-5) ------------------------------------------------------------------

namespace {

// A member's first stripe and its last one, which may be the same.
struct small_blocks {
  explicit small_blocks(const tx::small_member& m) noexcept
      : first(pool::stripes::index(m.zone, m.column / pool::column_block)),
        last(pool::stripes::index(m.zone, (m.column + m.extent() - 1) / pool::column_block)) {}
  uint32_t first, last;
};

}  // namespace

// Reserves memory for one more small object.
void column_reservation::make_room(pool::lane& l) {
  constexpr size_t step = tx::small_members_max;
  const auto grow = [](auto& v, size_t n) {
    if (v.capacity() - v.size() < n) [[unlikely]]
      v.reserve(2 * v.capacity() + step);
  };
  grow(l.reserved.stripes, 2);
  grow(l.reserved.columns, 1);
  grow(fragments_[l.index], 1);
}

// Returns false, with nothing locked, if a stripe is not available, or a column is held already.
bool column_reservation::lock_small(pool::lane& l, const tx::small_member& m) noexcept {
  const uint64_t begin = m.zone * s_.geo.row_size + m.column, end = begin + m.extent();
  for (const pool::column_range& c : l.reserved.columns)
    if (c.begin < end && begin < c.end) return false;
  const small_blocks mine(m);
  const bool has_first = l.reserved.has(mine.first), has_last = l.reserved.has(mine.last);
  if (!has_first && !try_lock(l, mine.first)) return false;
  if (!has_last && mine.last != mine.first && !try_lock(l, mine.last)) {
    if (!has_first) s_.locks.unlock_window(mine.first, l.index);
    return false;
  }
  // make_room() has reserved the memory.
  if (!has_first) insert(l.reserved.stripes, mine.first);
  if (!has_last && mine.last != mine.first) insert(l.reserved.stripes, mine.last);
  auto& columns = l.reserved.columns;
  columns.push_back({begin, end});
  for (auto* at = &columns.back(); at != columns.data() && at[-1].begin > at[0].begin; --at)
    std::swap(at[-1], at[0]);
  fragments_[l.index].push_back(m.header);
  return true;
}

// Undoes the last lock_small().
void column_reservation::unlock_small(pool::lane& l, const tx::small_member& m) noexcept {
  const uint64_t begin = m.zone * s_.geo.row_size + m.column;
  std::erase_if(l.reserved.columns, [&](const pool::column_range& c) { return c.begin == begin; });
  fragments_[l.index].pop_back();
  std::erase_if(l.reserved.stripes, [&](uint32_t stripe) {
    const small_blocks mine(m);
    if (stripe != mine.first && stripe != mine.last) return false;
    for (const pool::column_range& c : l.reserved.columns) {
      const uint64_t zone = c.begin / s_.geo.row_size, column = c.begin % s_.geo.row_size;
      for (uint64_t b = column / pool::column_block;
           b <= (column + (c.end - c.begin) - 1) / pool::column_block; ++b)
        if (pool::stripes::index(zone, b) == stripe) return false;
    }
    s_.locks.unlock_window(stripe, l.index);
    return true;
  });
}

// Copies the object to its image. Returns false if it changed since it was read, is open in place,
// or is damaged.
bool column_reservation::read_small(pool::lane& l, const tx::small_member& m) noexcept {
  const pool::in_flight_scope here(s_, l, pool::in_flight_write::phase::reading);
  const std::byte* there = s_.at(m.header);
  if (s_.overlaid.touches(m.header + format::header_size, m.room)) return false;
  if (std::memcmp(there, &m.read, sizeof m.read) != 0) return false;
  std::byte* payload = m.image + format::header_size;
  std::memcpy(payload, there + format::header_size, m.size);
  l.w.count.verified_bytes.add(m.size);
  return m.read.checksum == pool::header_checksum(s_.checksum, m.header, m.read, payload, m.size);
}

bool column_reservation::add_small(pool::lane& l, const tx::small_member& m, bool known,
                                   const tx::inplace_range& r, std::byte* old) {
  // The parity will be its undo log. Its pages are present, or a fault here rebuilds them while no
  // columns are held.
  if (s_.medium->any_revoked()) return false;
  if (!known) touch_parity(s_, m.parity, m.extent());
  const outcome before = acquire(l);
  if (before == outcome::logged) return false;
  SCUTE_ASSERT(!known || before == outcome::reserved);
  bool locked = false;
  const size_t undo_before = l.undo_image.size();
  const auto back_out = [&] {
    if (locked) unlock_small(l, m);
    release(l);
    return false;
  };
  try {
    make_room(l);
    if (!known) locked = lock_small(l, m);
    if (!known && !locked) return back_out();
    if ((locked && !read_small(l, m)) || s_.medium->failed()) return back_out();
    std::memcpy(old, m.image + (r.offset - m.header), r.length);
    if (!log_.add_undo(l.undo_image, r.offset, old, r.length)) return back_out();
  } catch (...) {
    l.undo_image.shrink(undo_before);
    back_out();
    throw;
  }
  open(l, r, undo_before);
  release(l);
  return true;
}

void column_reservation::spill_to_undo_log(pool::lane& l) noexcept {
  SCUTE_ASSERT(is_acquired(l) || l.reservation.load(std::memory_order_relaxed) == spilling);
  l.reservation.store(spilling, std::memory_order_relaxed);
  medium::writer& w = l.spill_writer;
  {
    const pool::in_flight_scope here(s_, l, pool::in_flight_write::phase::reading);
    log_.write_first_undo(l, l.undo_image, w);
    w.fence(fence_site::spill_to_undo_log);
    log_.undo_decided(l);
    w.count.undo_spills.add(1);
  }
  for (const uint32_t stripe : l.reserved.stripes) s_.locks.unlock_window(stripe, l.index);
  l.reserved.clear();
  l.reservation.store(spilled, std::memory_order_release);
}

void column_reservation::take(pool::lane& l, uint32_t stripe) noexcept {
  uint32_t seen = l.reservation.load(std::memory_order_relaxed);
  if (seen != reserved ||
      !l.reservation.compare_exchange_strong(seen, spilling, std::memory_order_acq_rel))
    return;
  const bool ours =
      std::binary_search(l.reserved.stripes.begin(), l.reserved.stripes.end(), stripe);
  if (!ours) {
    l.reservation.store(reserved, std::memory_order_release);
    return;
  }
  spill_to_undo_log(l);
}

}  // namespace scute::core::engine
