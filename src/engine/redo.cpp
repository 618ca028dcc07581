// SPDX-License-Identifier: BSD-3-Clause
#include "engine/redo.hpp"

#include "pool/columns.hpp"

namespace scute::engine {

// Steps 1b and 2: the entry has been streamed.
void redo::decide(pool::lane& l, std::span<const pool::patch> patches) {
  pool::split(s_, l, patches);
  pool::settle(s_, l);
  l.w.fence();
  // A fence that failed decides nothing that could be relied on; whatever is on the medium,
  // recovery will tell. Nothing is in place yet.
  s_.require_healthy();
  pool::settled(l);
  // The new entry takes the old one's place as the last of this lane (L2).
  l.raise_settled(l.applied.load(std::memory_order_relaxed));
}

// Steps 4 and 5.
void redo::finish(pool::lane& l, bool ends_in_place) {
  l.w.fence();
  s_.require_healthy();
  log_.retire(l, ends_in_place);
}

void redo::commit(pool::lane& l, const tx::write_set& w) {
  if (w.patches.empty() && w.in_place.empty()) return;
  s_.require_healthy();
  entry_image image(l, format::entry_final);
  for (const auto& p : w.patches) image.add(format::record_kind::data, p.offset, p.src, p.length);
  for (const auto& r : w.in_place) {
    image.add(format::record_kind::intent, r.offset, nullptr, static_cast<uint32_t>(r.length));
    l.w.flush(s_.at(r.offset), r.length, medium::purpose::data);
  }
  // R1: no log holds these bytes, so they must be durable before any part of the entry can be.
  if (!w.in_place.empty()) l.w.fence();
  log_.write(image);
  decide(l, w.patches);
  pool::apply(s_, l);
  for (const auto& r : w.in_place) pool::apply_in_place(s_, l, r.offset, r.old, r.length);
  finish(l, !w.in_place.empty());
}

void redo::step(pool::lane& l, std::span<const pool::patch> patches) {
  s_.require_healthy();
  entry_image image(l, 0);
  for (const auto& p : patches) image.add(format::record_kind::data, p.offset, p.src, p.length);
  log_.write(image);
  decide(l, patches);
  pool::apply(s_, l);
  finish(l, false);
}

void redo::stage(pool::lane& l, std::span<const pool::patch> patches) {
  if (patches.empty()) return;
  s_.require_healthy();
  // The entry only says whose parity a crash may leave torn; the bytes themselves are nobody's.
  entry_image image(l, 0);
  for (const auto& p : patches) image.add(format::record_kind::intent, p.offset, nullptr, p.length);
  log_.write(image);
  decide(l, patches);
  pool::apply(s_, l);
  finish(l, false);
}

void redo::save(pool::lane& l, const tx::inplace_range& r) {
  s_.require_healthy();
  // R5 holds for direct stores as well: settle before the undo entry's fence.
  const pool::patch p{r.offset, r.old, static_cast<uint32_t>(r.length), medium::purpose::data};
  entry_image image(l, 0);
  image.add(format::record_kind::undo, r.offset, r.old, static_cast<uint32_t>(r.length));
  log_.write_undo(image);
  pool::split(s_, l, {&p, 1});
  pool::settle(s_, l);
  l.w.fence();
  s_.require_healthy();
  pool::settled(l);
  pool::overlay_in_place(s_, r.offset, r.old, r.length, true);
}

void redo::restore(pool::lane& l, std::span<const tx::inplace_range> ranges) {
  if (ranges.empty()) return;
  for (const auto& r : ranges) l.w.stream(s_.at(r.offset), r.old, r.length, medium::purpose::data);
  l.w.fence();
  for (const auto& r : ranges) pool::overlay_in_place(s_, r.offset, r.old, r.length, false);
  log_.retire(l, true);
}

}  // namespace scute::engine
