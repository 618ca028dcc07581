// SPDX-License-Identifier: BSD-3-Clause
#include "engine/in_place_hold.hpp"

#include <algorithm>

#include "medium/planted.hpp"
#include "medium/waiting.hpp"
#include "pool/columns.hpp"
#include "pool/hold.hpp"
#include "pool/resolver.hpp"
#include "pool/window.hpp"

namespace scute::engine {
namespace {

enum state : uint32_t { nothing, busy, held, demoting, demoted };

void insert(std::vector<uint32_t>& sorted, uint32_t stripe) {
  sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), stripe), stripe);
}

}  // namespace

in_place_hold::outcome in_place_hold::claim(pool::lane& l) noexcept {
  for (unsigned spins = 0;; spin_pause(spins)) {
    uint32_t seen = l.hold.load(std::memory_order_acquire);
    if (seen == nothing) return outcome::none;
    if (seen == demoted) return outcome::logged;
    if (seen == held && l.hold.compare_exchange_strong(seen, busy, std::memory_order_acq_rel))
      return outcome::held;
  }
}

void in_place_hold::release(pool::lane& l) noexcept {
  if (l.hold.load(std::memory_order_relaxed) == busy) l.hold.store(held, std::memory_order_release);
}

void in_place_hold::end(pool::lane& l) noexcept {
  l.held.clear();
  l.undo_image.clear();
  l.hold.store(nothing, std::memory_order_release);
}

// Locks what l.now() lists and l.held does not.
bool in_place_hold::lock(pool::lane& l) {
  const auto& want = l.now().stripes;
  l.held.stripes.reserve(l.held.stripes.size() + want.size());
  std::vector<uint32_t> got;
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
  for (const uint32_t g : got) insert(l.held.stripes, g);
  return true;
}

bool in_place_hold::add(pool::lane& l, const tx::inplace_range& r,
                        std::span<const tx::member> fragments) {
  std::vector<pool::extent> extents;
  for (const tx::member& m : fragments) {
    if (s_.resolving != nullptr && s_.resolving->pending()) s_.resolving->before_change(m.where);
    extents.push_back({m.where.header, format::header_size});
    extents.push_back({m.where.payload, m.extent});
  }
  if (s_.resolving != nullptr && s_.resolving->pending())
    for (const pool::extent& x : extents) s_.resolving->before_write(x.offset, x.length);
  const auto give_up = [&] {
    if (l.hold.load(std::memory_order_relaxed) == busy)
      demote(l);
    else
      l.undo_image.clear();
    return false;
  };
  if (!pool::plan(s_, l, extents)) return give_up();
  // The same fragment may come again, and is held already then; another cell of its columns may not.
  std::vector<pool::column_range> fresh;
  for (const pool::column_range& c : l.now().columns) {
    const auto same = [&](const pool::column_range& h) {
      return h.begin == c.begin && h.end == c.end;
    };
    if (std::none_of(l.held.columns.begin(), l.held.columns.end(), same)) fresh.push_back(c);
  }
  if (pool::overlap(fresh, l.held.columns)) return give_up();
  l.held.columns.reserve(l.held.columns.size() + fresh.size());
  if (!log_.add_undo(l.undo_image, r.offset, r.old, r.length)) return give_up();
  // A range that gets no columns leaves its record behind; what it puts back is what is there.
  pool::require_columns(s_, l);
  if (!lock(l)) return give_up();
  l.held.columns.insert(l.held.columns.end(), fresh.begin(), fresh.end());
  std::sort(l.held.columns.begin(), l.held.columns.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  l.hold.store(busy, std::memory_order_relaxed);
  l.now().clear();
  try {
    pool::overlay_in_place(s_, r.offset, r.old, r.length, true, true);
  } catch (...) {
    demote(l);
    throw;
  }
  return true;
}

void in_place_hold::demote(pool::lane& l) noexcept {
  l.hold.store(demoting, std::memory_order_relaxed);
  {
    const pool::holding here(s_, l, pool::hold::phase::reading);
    if (!SCUTE_PLANTED(demote_undo)) log_.write_first_undo(l, l.undo_image, l.relief);
    if (!SCUTE_PLANTED(demote_fence)) l.relief.fence();
    l.relief.count.demotions.add(1);
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

}  // namespace scute::engine
