// SPDX-License-Identifier: BSD-3-Clause
#include "engine/logfree/in_place_hold.hpp"

#include <algorithm>

#include "base/planted.hpp"
#include "base/waiting.hpp"
#include "engine/logfree/window.hpp"
#include "pool/columns.hpp"
#include "pool/grip.hpp"
#include "pool/in_place_note.hpp"
#include "tx/conflict.hpp"

namespace scute::core::engine {
namespace {

enum state : uint32_t { nothing, busy, held, demoting, demoted };

void insert(std::vector<uint32_t>& sorted, uint32_t stripe) {
  sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), stripe), stripe);
}

}  // namespace

in_place_hold::outcome in_place_hold::acquire(pool::lane& l) noexcept {
  for (unsigned spins = 0;; spin_pause(spins)) {
    uint32_t seen = l.hold.load(std::memory_order_acquire);
    if (seen == nothing) return outcome::none;
    if (seen == demoted) return outcome::logged;
    if (seen == held && l.hold.compare_exchange_strong(seen, busy, std::memory_order_acq_rel))
      return outcome::held;
  }
}

void in_place_hold::release(pool::lane& l) noexcept {
  if (is_acquired(l)) l.hold.store(held, std::memory_order_release);
}

bool in_place_hold::is_acquired(const pool::lane& l) const noexcept {
  return l.hold.load(std::memory_order_relaxed) == busy;
}

bool in_place_hold::require_columns(pool::lane& l) noexcept {
  const bool holds = is_acquired(l);
  release(l);
  window(s_, l).require_columns();
  return !holds || acquire(l) == outcome::held;
}

void in_place_hold::end(pool::lane& l) noexcept {
  SCUTE_ASSERT(l.hold.load(std::memory_order_relaxed) != held);
  l.held.clear();
  fragments_[l.index].clear();
  if (hulls_[l.index].length != 0) pool::forget_in_place(s_, l);
  hulls_[l.index] = {};
  l.undo_image.clear();
  l.hold.store(nothing, std::memory_order_release);
}

// Locks what l.now() lists and l.held does not: `got`.
bool in_place_hold::lock(pool::lane& l, std::vector<uint32_t>& got) {
  const auto& want = l.now().stripes;
  l.held.stripes.reserve(l.held.stripes.size() + want.size());
  got.reserve(want.size());
  for (const uint32_t stripe : want) {
    if (std::binary_search(l.held.stripes.begin(), l.held.stripes.end(), stripe)) continue;
    bool have = s_.locks.try_lock_window(stripe, l.index);
    for (int attempt = 0; !have && attempt < 3; ++attempt) {
      // Deferred parity, our own as well, or another in-place range.
      s_.locks.ask(stripe);
      have = s_.locks.try_lock_window(stripe, l.index);
    }
    if (!have) {
      l.w.count.lock_waits.add(1);
      for (const uint32_t g : got) s_.locks.unlock_window(g, l.index);
      return false;
    }
    got.push_back(stripe);
  }
  return true;
}

bool in_place_hold::add(pool::lane& l, const tx::inplace_range& r,
                        std::span<const tx::member> fragments) {
  // A fragment may come again, and is held already then. It is known by its header: another one may have
  // the same columns, in another row, and must not be held besides.
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
    // Nobody keeps others from writing there, so what was to be put back may be out of date.
    l.undo_image.shrink(undo_before);
    if (is_acquired(l))
      demote(l);
    else
      l.undo_image.clear();
    return false;
  };
  if (!window(s_, l).plan(extents) || overlap(l.now().columns, l.held.columns)) return give_up();
  l.pieces.clear();  // of what the lane did before
  if (!require_columns(l)) return false;
  const auto& columns = l.now().columns;
  l.held.columns.reserve(l.held.columns.size() + columns.size());
  mine.reserve(mine.size() + fresh.size());
  if (!log_.add_undo(l.undo_image, r.offset, r.old, r.length)) return give_up();
  std::vector<uint32_t> got;
  if (!lock(l, got)) return give_up();
  tx::change change;
  {
    const pool::grip_scope here(s_, l, pool::grip::phase::reading);
    change = tx::find_changed(s_, l, fragments);
  }
  if (change) {
    for (const uint32_t g : got) s_.locks.unlock_window(g, l.index);
    if (change.damaged) return give_up();  // what follows repairs it, with no columns held
    l.undo_image.shrink(undo_before);
    l.now().clear();
    tx::refuse_change(s_, change.which->where.header);
  }
  for (const uint32_t g : got) insert(l.held.stripes, g);
  mine.insert(mine.end(), fresh.begin(), fresh.end());
  l.held.columns.insert(l.held.columns.end(), columns.begin(), columns.end());
  std::sort(l.held.columns.begin(), l.held.columns.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  l.hold.store(busy, std::memory_order_relaxed);
  l.now().clear();
  try {
    s_.require_healthy();  // WIN-5
    pool::overlay_in_place(s_, l, r.offset, r.old, r.length, pool::stripes_are::held);
  } catch (...) {
    demote(l);
    throw;
  }
  pool::data_range& hull = hulls_[l.index];
  const uint64_t end = std::max(hull.offset + hull.length, r.offset + r.length);
  hull.offset = hull.length == 0 ? r.offset : std::min(hull.offset, r.offset);
  hull.length = end - hull.offset;
  pool::note_in_place(s_, l, hull);
  return true;
}

void in_place_hold::demote(pool::lane& l) noexcept {
  SCUTE_ASSERT(is_acquired(l) || l.hold.load(std::memory_order_relaxed) == demoting);
  l.hold.store(demoting, std::memory_order_relaxed);
  medium::writer& w = SCUTE_PLANTED(demote_writer) ? l.relief : l.rescue;
  {
    const pool::grip_scope here(s_, l, pool::grip::phase::reading);
    if (!SCUTE_PLANTED(demote_undo)) log_.write_first_undo(l, l.undo_image, w);
    w.fence(fence_site::demote);
    w.count.demotions.add(1);
  }
  for (const uint32_t stripe : l.held.stripes) s_.locks.unlock_window(stripe, l.index);
  l.held.clear();
  l.hold.store(demoted, std::memory_order_release);
}

void in_place_hold::take(pool::lane& l, uint32_t stripe) noexcept {
  uint32_t seen = l.hold.load(std::memory_order_relaxed);
  if (seen != held || !l.hold.compare_exchange_strong(seen, demoting, std::memory_order_acq_rel))
    return;
  const bool ours = std::binary_search(l.held.stripes.begin(), l.held.stripes.end(), stripe);
  if (!ours) {
    l.hold.store(held, std::memory_order_release);
    return;
  }
  demote(l);
}

}  // namespace scute::core::engine
