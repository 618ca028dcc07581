// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/redo/invalidate_peer_entry.hpp"

#include <algorithm>

namespace scute::core::engine {

namespace {

// Once per invalidation and lane. by.invalidating must have room.
void flush_status(pool::state& s, pool::lane& by, pool::lane& other) noexcept {
  for (const auto& p : by.invalidating)
    if (p.other == &other) return;
  const uint64_t applied = other.applied.load(std::memory_order_acquire);
  for (uint32_t r = 0; r < s.geo.lane_replicas; ++r)
    by.w.flush(s.at(s.geo.lane_offset(other.index, r)), sizeof(format::lane_status),
               medium::purpose::log);
  by.w.count.peer_invalidations.add(1);
  by.invalidating.push_back({&other, applied});
}

}  // namespace

void follow(const pool::state& s, pool::lane& l) noexcept {
  const uint64_t me = l.index + 1;
  for (const pool::piece& p : l.pieces) {
    const pool::stripe_owner o = s.locks.owner(p.stripe);
    if (o.who() == pool::stripe_owner::none || o.who() == me) continue;
    if (o.who() != pool::stripe_owner::many) {
      const uint64_t begun = s.lanes[o.lane()].begun.load(std::memory_order_acquire);
      l.sequence = std::max(l.sequence, o.sequence_near(begun));
      continue;
    }
    for (const pool::lane& other : s.lanes)
      l.sequence = std::max(l.sequence, other.applied.load(std::memory_order_acquire));
  }
}

void prepare_invalidation(const pool::state& s, pool::lane& l) {
  l.handled.reserve(l.pieces.size());
  l.invalidating.reserve(s.geo.lane_count);
}

namespace {

// All other lanes, at most once each. Returns false if one of them is writing at this moment: its
// status line does not cover its newest entry yet.
bool flush_all_statuses(pool::state& s, pool::lane& l) noexcept {
  bool idle = true;
  for (pool::lane& other : s.lanes) {
    if (&other == &l) continue;
    const uint64_t applied = other.applied.load(std::memory_order_acquire);
    idle = idle && other.begun.load(std::memory_order_acquire) == applied;
    if (applied > other.invalid_up_to.load(std::memory_order_acquire)) flush_status(s, l, other);
  }
  return idle;
}

}  // namespace

void invalidate_peers(pool::state& s, pool::lane& l) noexcept {
  l.handled.clear();
  l.invalidating.clear();
  const uint64_t me = l.index + 1;
  for (const pool::piece& p : l.pieces) {
    const pool::stripe_owner o = s.locks.owner(p.stripe);
    if (o.who() == pool::stripe_owner::none || o.who() == me) continue;
    if (o.who() == pool::stripe_owner::many) {
      // The word does not say whose entries depend on it, but each of them was decided before its
      // lane wrote here. (Found by the crash explorer: a lane that was still writing was
      // forgotten.)
      if (flush_all_statuses(s, l)) l.handled.push_back({p.stripe, o});
      continue;
    }
    pool::lane& other = s.lanes[o.lane()];
    if (!other.has_invalidated(o.sequence())) flush_status(s, l, other);
  }
}

void invalidate_all_peers(pool::state& s, pool::lane& l) {
  l.invalidating.clear();
  l.invalidating.reserve(s.lanes.size());
  for (pool::lane& other : s.lanes)
    if (&other != &l && other.applied.load(std::memory_order_acquire) >
                            other.invalid_up_to.load(std::memory_order_acquire))
      flush_status(s, l, other);
  if (l.invalidating.empty()) return;
  l.w.fence(fence_site::invalidate_peer_entry);
  s.require_healthy();
  peers_invalidated(l);
}

void peers_invalidated(pool::lane& l) noexcept {
  for (const auto& p : l.invalidating) p.other->raise_invalid_up_to(p.applied);
  l.invalidating.clear();
}

pool::stripe_owner next_owner(const pool::state& s, const pool::lane& l, uint32_t stripe,
                              pool::stripe_owner old) noexcept {
  const pool::stripe_owner mine = pool::stripe_owner::of(l.index, l.sequence);
  if (old.who() == pool::stripe_owner::none || old.who() == mine.who()) return mine;
  if (old.who() == pool::stripe_owner::many) {
    for (const auto& h : l.handled)
      if (h.stripe == stripe && h.owner == old) return mine;
  } else if (s.lanes[old.lane()].has_invalidated(old.sequence())) {
    return mine;
  }
  // The entries of two lanes now depend on this word. A counter distinguishes one `many` from the
  // next.
  return pool::stripe_owner{((old.sequence() + 1) & pool::stripe_owner::sequence_mask) << 10 |
                            pool::stripe_owner::many};
}

}  // namespace scute::core::engine
