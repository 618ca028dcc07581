// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/redo/redo.hpp"

#include <cstring>
#include <memory>

#include "core/engine/common/in_place.hpp"
#include "core/engine/common/recovery.hpp"
#include "core/engine/redo/apply.hpp"
#include "core/engine/redo/invalidate_peer_entry.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/tx/conflict.hpp"
#include "core/tx/object_lock_guard.hpp"
#include "core/tx/small_changes.hpp"

namespace scute::core::engine {
namespace {

// Limits an entry of prewrite() to so many intents that it fits any lane. Patches with at most
// prewrite_gap bytes between them share one intent.
constexpr uint32_t prewrite_intents = 32, prewrite_gap = 64;

}  // namespace

// Steps 1 and 2.
void redo::decide(pool::lane& l, entry_image& image, std::span<const pool::patch> patches) {
  log_.prepare(image);  // may make steps of its own
  try {
    pool::split(s_, l, patches);
    follow(s_, l);
    // After the first byte of the entry nothing may fail for want of memory: an entry that was
    // given up half-way would be replayed after a crash.
    prepare_invalidation(s_, l);
  } catch (...) {
    log_.clean_up(l, ending::entry);  // returns the chunks that prepare() has borrowed
    throw;
  }
  {
    const medium::cost_scope writing(medium::cost_part::log);
    log_.write(image);
  }
  invalidate_peers(s_, l);
  l.w.fence(fence_site::decide);
  // If the fence has failed, nothing counts as decided: recovery reads from the medium whether the
  // entry is there. Nothing is in place yet.
  s_.require_healthy();
  peers_invalidated(l);
  // The new entry takes the old one's place as the last of this lane (LOG-2).
  l.raise_invalid_up_to(l.applied.load(std::memory_order_relaxed));
  l.begun.store(l.sequence, std::memory_order_release);
}

// Steps 4 and 5.
void redo::finish(pool::lane& l, ending of) {
  l.w.fence(fence_site::apply);
  s_.require_healthy();
  log_.retire(l, of);
}

void redo::commit(pool::lane& l, const tx::write_set& w) {
  const bool has_undo = log_.has_undo(l);
  if (w.patches.empty() && w.in_place.empty()) {
    // Undo entries of ranges that the user never got: see restore().
    if (has_undo) log_.retire(l, ending::in_place);
    return;
  }
  s_.require_healthy();
  entry_image image(l, format::entry_final);
  for (const auto& p : w.patches) image.add(format::record_kind::data, p.offset, p.src, p.length);
  for (const auto& r : w.in_place) {
    image.add(format::record_kind::intent, r.offset, nullptr, static_cast<uint32_t>(r.length));
    l.w.flush(s_.at(r.offset), r.length, medium::purpose::data);
  }
  keep_in_place(s_, l, w.in_place);
  // REDO-1: no log holds these bytes, so they must be durable before any part of the entry can be.
  if (!w.in_place.empty()) l.w.fence(fence_site::in_place);
  s_.require_healthy();
  decide(l, image, w.patches);
  apply(s_, l);
  const std::byte* now = l.in_place.data();
  for (const auto& r : w.in_place) {
    apply_in_place(s_, l, r.offset, r.old, now, r.length);
    now += r.length;
  }
  finish(l, has_undo ? ending::in_place : ending::entry);
}

// See CONFLICT-1 and CONFLICT-3. If anything is wrong with a header, the general way finds out and
// repairs it.
bool redo::can_free(const pool::lane& l, const tx::small_member& m) const noexcept {
  const pool::optimistic_reads mark;
  if (s_.overlaid.open_elsewhere(m.header + format::header_size, m.room, l.index)) return false;
  format::fragment_header h;
  std::memcpy(&h, s_.at(m.header), sizeof h);
  return std::memcmp(&h, &m.read, sizeof h) == 0;
}

namespace {

// Nothing of it is written before it is used.
union patch_room {
  static constexpr size_t most = 8 * tx::small_members_max;
  patch_room() noexcept {}
  pool::patch at[most];
};

}  // namespace

bool redo::commit_short(pool::lane& l, std::span<const tx::small_member> members,
                        std::span<const tx::inplace_range> in_place, tx::slot_reclaimer*) {
  using change = tx::small_member::change;
  if (!in_place.empty()) return false;
  s_.require_healthy();
  tx::object_lock_guard mine(s_, l);
  for (const tx::small_member& m : members)
    if (m.what != change::fresh) mine.add(m.header + format::header_size);
  mine.take();
  patch_room patches;
  size_t count = 0;
  entry_image image(l, format::entry_final);
  for (const tx::small_member& m : members) {
    if (m.what == change::freed ? !can_free(l, m) : !tx::is_unchanged(s_, l, m)) return false;
    if (tx::writes_header(s_, m)) tx::seal_small(s_, l, m);
    tx::for_each_change(s_, m, [&](uint64_t begin, uint64_t end, medium::purpose why) {
      if (count >= patch_room::most) {
        count = patch_room::most + 1;
        return;
      }
      const auto n = static_cast<uint32_t>(end - begin);
      std::construct_at(patches.at + count++,
                        pool::patch{m.header + begin, m.image + begin, n, why});
      image.add(format::record_kind::data, m.header + begin, m.image + begin, n);
    });
    if (count > patch_room::most) return false;
  }
  if (count == 0) return true;
  decide(l, image, {patches.at, count});
  apply(s_, l);
  finish(l, log_.has_undo(l) ? ending::in_place : ending::entry);
  return true;
}

void redo::step(pool::lane& l, std::span<const pool::patch> patches) {
  s_.require_healthy();
  entry_image image(l, 0);
  for (const auto& p : patches) image.add(format::record_kind::data, p.offset, p.src, p.length);
  decide(l, image, patches);
  apply(s_, l);
  finish(l, ending::entry);
}

// Part by part, so that the entries fit any lane.
void redo::prewrite(pool::lane& l, std::span<const pool::patch> patches) {
  while (!patches.empty()) {
    s_.require_healthy();
    // The entry only names the columns whose parity a crash may leave torn; the bytes themselves
    // have no owner yet. It names the columns between two patches that lie close as well:
    // recomputing their parity does not change it.
    entry_image image(l, 0);
    size_t n = 0;
    for (uint32_t intents = 0; n < patches.size() && intents < prewrite_intents; ++intents) {
      const uint64_t begin = patches[n].offset;
      uint64_t end = begin + patches[n].length;
      for (++n; n < patches.size(); ++n) {
        const pool::patch& next = patches[n];
        if (next.offset < end || next.offset - end > prewrite_gap ||
            next.offset + next.length - begin > UINT32_MAX)
          break;
        end = next.offset + next.length;
      }
      image.add(format::record_kind::intent, begin, nullptr, static_cast<uint32_t>(end - begin));
    }
    decide(l, image, patches.first(n));
    apply(s_, l);
    finish(l, ending::entry);
    patches = patches.subspan(n);
  }
}

void redo::save(pool::lane& l, const tx::inplace_range& r, std::span<const tx::member> fragments) {
  s_.require_healthy();
  for (int attempt = 0; const tx::change c = tx::find_changed(s_, l, fragments); ++attempt)
    tx::repair_or_refuse(s_, l, c, attempt);
  const pool::patch p{r.offset, r.old, static_cast<uint32_t>(r.length), medium::purpose::data};
  // Before there is an undo entry, the range is announced as an overlay and all memory for the
  // following steps is reserved. An undo entry whose save failed would be rolled back over bytes
  // that others have written since.
  pool::split(s_, l, {&p, 1});
  prepare_invalidation(s_, l);
  pool::overlay_in_place(s_, l, r.offset, r.old, r.length, pool::stripes_are::free);
  try {
    entry_image image(l, 0);
    image.add(format::record_kind::undo, r.offset, r.old, static_cast<uint32_t>(r.length));
    log_.write_undo(image);  // may make steps of its own
    // REDO-5 holds for direct stores as well: invalidate before the undo entry's fence.
    pool::split(s_, l, {&p, 1});
    invalidate_peers(s_, l);
    l.w.fence(fence_site::save);
    s_.require_healthy();
    log_.undo_decided(l);
    peers_invalidated(l);
  } catch (...) {
    pool::end_in_place(s_, r.offset, r.length);
    throw;
  }
}

void redo::restore(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  // There may be undo entries without a range: a save that failed after writing them.
  if (!log_.has_undo(l)) return;
  put_back(s_, l, ranges);
  log_.invalidate(l, ending::in_place);
  close_in_place(s_, ranges);  // CONFLICT-3
  log_.clean_up(l, ending::in_place);
}

void redo::write_unlogged(pool::lane& l, std::span<const pool::patch> patches) {
  pool::split(s_, l, patches);
  apply(s_, l);
}

tx::recovery_report redo::recover(medium::writer& w, tx::recovery_watch* watch) {
  return recover_from_logs(s_, w, open_parity::unknown, watch);
}

// The last log entry of an idle lane may still hold bytes of this chunk's previous use.
void redo::prepare_reuse(pool::lane& l, uint64_t, uint64_t) {
  invalidate_all_peers(s_, l);
}

}  // namespace scute::core::engine
