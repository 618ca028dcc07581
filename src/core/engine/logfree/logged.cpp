// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/logged.hpp"

#include "core/engine/common/in_place.hpp"
#include "core/engine/logfree/window.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/resolver.hpp"
#include "core/tx/conflict.hpp"

namespace scute::core::engine {

// Locks the stripes of l.pieces. Ends the lane's deferred window first.
void logged::open_window(pool::lane& l) {
  window(s_, l).plan_pieces();
  window(s_, l).prepare_deltas();
  wait_for_window(l);
}

void logged::wait_for_window(pool::lane& l) {
  if (window(s_, l).take_back()) window(s_, l).finish_last();
  window(s_, l).enter();
}

namespace {

// Locks the stripes that open() plans, with members unchanged since the transaction read them.
// Throws if they changed, with nothing locked.
template <typename Open>
void open_unchanged(pool::state& s, pool::lane& l, std::span<const tx::member> members,
                    Open&& open) {
  for (int attempt = 0;; ++attempt) {
    open();
    tx::change change;
    {
      const pool::in_flight_scope here(s, l, pool::in_flight_write::phase::reading);
      change = tx::find_changed(s, l, members);
    }
    if (!change) return;
    window(s, l).leave();
    tx::repair_or_refuse(s, l, change, attempt);
  }
}

}  // namespace

// Adds pieces for bytes that are in place already. Their copies are in l.in_place, one after the
// other.
void logged::add_in_place(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  const std::byte* now = l.in_place.data();
  for (const auto& r : ranges) {
    pool::split_in_place(s_, l, r.offset, r.old, now, r.length);
    now += r.length;
  }
}

void logged::run(pool::lane& l, entry_image& image, const tx::write_set& w, ending of) {
  if (s_.resolving->pending()) {
    for (const auto& p : w.patches) s_.resolving->before_write(p.offset, p.length);
    for (const auto& r : w.in_place) s_.resolving->before_write(r.offset, r.length);
  }
  log_.prepare(image);  // may make steps of its own
  try {
    pool::split(s_, l, w.patches);
    add_in_place(l, w.in_place);
    open_unchanged(s_, l, w.members, [&] { open_window(l); });
  } catch (...) {
    log_.clean_up(l, ending::entry);  // returns the chunks that prepare() has borrowed
    throw;
  }
  {
    const medium::cost_scope writing(medium::cost_part::log);
    log_.write(image);
  }
  l.w.fence(fence_site::logged_decide);
  if (!s_.medium->failed()) {
    window(s_, l).write_data();
    window(s_, l).write_parity(window::write_back::now);
    for (const auto& r : w.in_place) pool::end_in_place(s_, r.offset, r.length);
    l.w.fence(fence_site::logged);
    if (!s_.medium->failed()) log_.invalidate(l, of);
  }
  window(s_, l).leave();
  s_.require_healthy();
  log_.clean_up(l, of);
}

void logged::commit(pool::lane& l, const tx::write_set& w) {
  const bool has_undo = log_.has_undo(l);
  if (w.patches.empty() && w.in_place.empty()) {
    // Undo entries of ranges that the user never got: see restore().
    if (!has_undo) return;
    log_.invalidate(l, ending::in_place);
    return log_.clean_up(l, ending::in_place);
  }
  if (s_.resolving->pending())
    for (const tx::member& m : w.members) s_.resolving->before_change(m.where);
  l.w.count.logged.add(1);
  entry_image image(l, format::entry_final);
  for (const auto& p : w.patches) image.add(format::record_kind::data, p.offset, p.src, p.length);
  for (const auto& r : w.in_place) {
    image.add(format::record_kind::intent, r.offset, nullptr, static_cast<uint32_t>(r.length));
    l.w.flush(s_.at(r.offset), r.length, medium::purpose::data);
  }
  keep_in_place(s_, l, w.in_place);
  // No log holds these bytes, so they must be durable before any part of the entry can be.
  if (!w.in_place.empty()) l.w.fence(fence_site::logged_in_place);
  s_.require_healthy();
  run(l, image, w, has_undo ? ending::in_place : ending::entry);
}

void logged::step(pool::lane& l, std::span<const pool::patch> patches) {
  s_.require_healthy();
  entry_image image(l, 0);
  for (const auto& p : patches) image.add(format::record_kind::data, p.offset, p.src, p.length);
  tx::write_set w;
  w.patches = patches;
  run(l, image, w, ending::entry);
}

// These bytes have no owner yet: a crash leaves columns whose other cells are all sound.
void logged::prewrite(pool::lane& l, std::span<const pool::patch> patches) {
  if (patches.empty()) return;
  s_.require_healthy();
  // The overwritten bytes may still be a member of a transaction that freed them later.
  if (s_.resolving->pending())
    for (const auto& p : patches) {
      s_.resolving->before_overwrite(p.offset, p.length);
    }
  pool::split(s_, l, patches);
  open_window(l);
  if (!s_.medium->failed()) {  // WIN-5
    window(s_, l).write_data();
    // LF-1: other processes see the stores of a process that was killed. Its columns that add up
    // would be believed, and a power failure could then take the bytes back. (A page cache is read
    // again after an unclean end, so a file needs no fence here.)
    if (s_.medium->what() != medium::kind::file) l.w.fence(fence_site::logged_data);
    window(s_, l).write_parity(window::write_back::now);
    l.w.fence(fence_site::logged_parity);
  }
  window(s_, l).leave();
  s_.require_healthy();
}

// LOGGED-4
void logged::announce(pool::lane& l, const tx::inplace_range& r,
                      std::span<const tx::member> fragments) {
  std::vector<extent> extents;
  for (const tx::member& m : fragments) {
    extents.push_back({m.where.header, format::header_size});
    extents.push_back({m.where.payload, m.extent});
  }
  open_unchanged(s_, l, fragments, [&] {
    window(s_, l).plan(extents);
    wait_for_window(l);
  });
  try {
    pool::overlay_in_place(s_, l, r.offset, r.old, r.length, pool::stripes_are::held);
  } catch (...) {
    window(s_, l).leave();
    throw;
  }
  window(s_, l).leave();
}

void logged::save(pool::lane& l, const tx::inplace_range& r,
                  std::span<const tx::member> fragments) {
  s_.require_healthy();
  announce(l, r, fragments);
  try {
    entry_image image(l, 0);
    image.add(format::record_kind::undo, r.offset, r.old, static_cast<uint32_t>(r.length));
    log_.write_undo(image);
    l.w.fence(fence_site::logged_save);
    s_.require_healthy();
    log_.undo_decided(l);
  } catch (...) {
    pool::end_in_place(s_, r.offset, r.length);
    throw;
  }
}

void logged::restore(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  if (!log_.has_undo(l)) return;
  put_back(s_, l, ranges);
  log_.invalidate(l, ending::in_place);
  close_in_place(s_, ranges);  // CONFLICT-3
  log_.clean_up(l, ending::in_place);
}

void logged::prepare_reuse(pool::lane&, uint64_t chunk, uint64_t length) {
  if (s_.resolving->pending()) s_.resolving->before_reuse(chunk, length);
  // A window that had members here ends, as a whole, before any of its stripes is free (LF-8).
  for (uint64_t at = 0; at < length; at += pool::column_block) {
    const uint32_t stripe = pool::stripe_of(s_, chunk + at);
    s_.locks.lock_exclusive(stripe);
    s_.locks.unlock_exclusive(stripe);
  }
}

}  // namespace scute::core::engine
