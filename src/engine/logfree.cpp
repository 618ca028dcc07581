// SPDX-License-Identifier: BSD-3-Clause
#include "engine/logfree.hpp"

#include <cstring>

#include "medium/planted.hpp"
#include "pool/columns.hpp"
#include "pool/resolver.hpp"
#include "pool/window.hpp"

namespace scute::engine {

// Plans the window, if the transaction can go without a log.
bool logfree::fits(pool::lane& l, const tx::write_set& w) {
  if (!w.in_place.empty() || w.members.empty() || w.metadata || logged_.has_undo(l)) return false;
  auto& extents = extents_[l.index];
  extents.clear();
  for (const tx::member& m : w.members) {
    const bool adjacent = m.where.payload == m.where.header + format::header_size;
    const uint64_t extent = SCUTE_PLANTED(window_extent) ? 0 : m.extent;
    extents.push_back({m.where.header, format::header_size + (adjacent ? extent : 0)});
    if (!adjacent && extent != 0) extents.push_back({m.where.payload, extent});
  }
  return pool::plan(s_, l, extents);
}

// 1. Members name each other, in the order in which they were sealed.
void logfree::make_ring(const tx::write_set& w) {
  const size_t n = w.members.size();
  if (n == 1 || SCUTE_PLANTED(ring)) return;
  for (size_t i = 0; i < n; ++i) {
    const tx::member& m = w.members[i];
    format::fragment_header h;
    std::memcpy(&h, m.header, sizeof h);
    pool::join_ring(s_, m.where, h, m.covered, w.members[(i + 1) % n].where.header);
    std::memcpy(m.header, &h, sizeof h);
  }
}

void logfree::commit(pool::lane& l, const tx::write_set& w) {
  s_.require_healthy();
  if (!fits(l, w)) return logged_.commit(l, w);
  if (s_.resolving != nullptr && s_.resolving->pending()) {  // D7
    for (const tx::member& m : w.members) s_.resolving->before_change(m.where);
    for (const pool::extent& x : extents_[l.index]) s_.resolving->before_write(x.offset, x.length);
  }
  make_ring(w);
  pool::split(s_, l, w.patches);
  pool::prepare_deltas(l);
  pool::require_columns(s_, l);
  // From here on nothing fails for want of memory.
  const bool before = pool::take_back(l);
  pool::enter(s_, l, before);
  pool::write_data(s_, l);
  if (SCUTE_PLANTED(window_parity_early)) pool::write_parity(s_, l);
  if (!SCUTE_PLANTED(window_fence)) l.w.fence();
  ++l.sequence;
  pool::release_last(s_, l);
  if (s_.medium->failed()) pool::leave(s_, l);
  s_.require_healthy();
  if (!SCUTE_PLANTED(window_parity_early)) pool::write_parity(s_, l);
  if (SCUTE_PLANTED(window_release)) return pool::leave(s_, l);
  pool::defer(l);
}

}  // namespace scute::engine
