// SPDX-License-Identifier: BSD-3-Clause
#include "pool/columns.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/parity.hpp"
#include "medium/persist.hpp"
#include "medium/planted.hpp"
#include "pool/hold.hpp"
#include "pool/optimistic.hpp"

namespace scute::pool {
namespace {

// Calls fn(offset, cell, n) for the parts of a data range that stay in one row and column block.
template <typename Fn>
void for_each_block(const geometry& g, uint64_t offset, uint64_t length, Fn&& fn) {
  while (length != 0) {
    cell c = cell_of(g, offset);
    // Rows are whole blocks long, so a block never crosses a row.
    uint64_t row_left = std::min(length, g.row_size - c.column);
    while (row_left != 0) {
      const uint64_t n = std::min(row_left, column_block - c.column % column_block);
      fn(offset, c, n);
      offset += n;
      length -= n;
      row_left -= n;
      c.column += n;
    }
  }
}

class exclusive_stripe {
 public:
  exclusive_stripe(state& s, uint64_t zone, uint64_t column, bool take = true)
      : s_(s), i_(stripes::index(zone, column / column_block)), take_(take) {
    if (take_) s_.locks.lock_exclusive(i_);
    held_.emplace(s, i_, false);
  }
  ~exclusive_stripe() {
    held_.reset();
    if (take_) s_.locks.unlock_exclusive(i_, streamed);
  }
  exclusive_stripe(const exclusive_stripe&) = delete;
  exclusive_stripe& operator=(const exclusive_stripe&) = delete;

  bool streamed = false;

 private:
  state& s_;
  uint32_t i_;
  bool take_;
  std::optional<holding> held_;
};

}  // namespace

void gather(const state& s, uint64_t zone, uint64_t column, uint64_t n, uint64_t skip,
            bool with_parity, gather_room& room, std::byte* out) noexcept {
  const geometry& g = s.geo;
  const uint64_t end = s.used_end[zone].load(std::memory_order_acquire);
  size_t count = 0;
  std::memset(out, 0, n);
  for (uint64_t r = 0; r < g.rows; ++r) {
    const uint64_t inside = r * g.row_size + column;
    if (r == skip) continue;
    if (inside >= end) break;  // zeros from here on
    const uint64_t offset = g.zone_offset(zone) + inside;
    if (s.overlaid.touches(offset, n) && !SCUTE_PLANTED(overlay_read)) {
      std::memcpy(room.patched, s.at(offset), n);
      s.overlaid.patch(offset, room.patched, n);
      codec::xor_into(out, room.patched, n);
      continue;
    }
    room.rows[count++] = s.at(offset);
  }
  if (with_parity) room.rows[count++] = s.at(parity_offset(g, zone, column));
  if (count == 0) return;
  codec::xor_gather(room.sum, room.rows, count, n);
  codec::xor_into(out, room.sum, n);
}

void split(state& s, lane& l, std::span<const patch> patches) {
  l.pieces.clear();
  for (const patch& p : patches) {
    const auto* src = static_cast<const std::byte*>(p.src);
    for_each_block(s.geo, p.offset, p.length, [&](uint64_t offset, const cell& c, uint64_t n) {
      piece& x = l.pieces.emplace_back();
      x.offset = offset;
      x.src = src;
      x.length = static_cast<uint32_t>(n);
      x.why = p.why;
      if (s.has_parity) {
        x.parity = parity_offset(s.geo, c.zone, c.column);
        x.stripe = stripes::index(c.zone, c.column / column_block);
        for (uint64_t i = 0; i < n; i += 64) __builtin_prefetch(s.at(x.parity + i), 1);
      } else {
        x.parity = 0;
        x.stripe = stripes::index(c.zone, offset / column_block);
      }
      src += n;
    });
  }
}

void split_in_place(state& s, lane& l, uint64_t offset, const std::byte* old, const std::byte* now,
                    uint64_t length) {
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
    piece& x = l.pieces.emplace_back();
    x.offset = at;
    x.src = now + (at - offset);
    x.old = old + (at - offset);
    x.length = static_cast<uint32_t>(n);
    x.why = medium::purpose::data;
    x.parity = parity_offset(s.geo, c.zone, c.column);
    x.stripe = stripes::index(c.zone, c.column / column_block);
  });
}

void prefetch_data(const state& s, uint64_t offset, uint64_t length) noexcept {
  for (uint64_t i = 0; i < length; i += 64) __builtin_prefetch(s.at(offset + i), 1);
}

void prefetch_parity(const state& s, uint64_t offset, uint64_t length) noexcept {
  if (!s.has_parity) return;
  const cell c = cell_of(s.geo, offset);
  const uint64_t n = std::min(length, s.geo.row_size - c.column);
  const std::byte* parity = s.at(parity_offset(s.geo, c.zone, c.column));
  for (uint64_t i = 0; i < n; i += 64) __builtin_prefetch(parity + i, 1);
}

namespace {

// Once per settlement and lane; by.settling has room.
void flush_status(state& s, lane& by, lane& other) noexcept {
  for (const auto& p : by.settling)
    if (p.other == &other) return;
  const uint64_t applied = other.applied.load(std::memory_order_acquire);
  for (uint32_t r = 0; r < s.geo.lane_replicas && !SCUTE_PLANTED(settle_flush); ++r)
    by.w.flush(s.at(s.geo.lane_offset(other.index, r)), sizeof(format::lane_status),
               medium::purpose::log);
  by.w.count.settles.add(1);
  by.settling.push_back({&other, applied});
}

}  // namespace

void follow(const state& s, lane& l) noexcept {
  const uint64_t me = l.index + 1;
  for (const piece& p : l.pieces) {
    const stripe_owner o = s.locks.owner(p.stripe);
    if (o.who() == stripe_owner::none || o.who() == me) continue;
    if (o.who() != stripe_owner::many) {
      l.sequence = std::max(l.sequence, o.sequence());
      continue;
    }
    for (const lane& other : s.lanes)
      l.sequence = std::max(l.sequence, other.applied.load(std::memory_order_acquire));
  }
}

void prepare_settle(const state& s, lane& l) {
  l.handled.reserve(l.pieces.size());
  l.settling.reserve(s.lanes.size());
}

namespace {

// All other lanes, at most once each. False if one of them is writing at this moment, so that its
// status line does not tell of its newest entry yet.
bool flush_all_statuses(state& s, lane& l) noexcept {
  bool idle = true;
  for (lane& other : s.lanes) {
    if (&other == &l) continue;
    const uint64_t applied = other.applied.load(std::memory_order_acquire);
    idle = idle && other.begun.load(std::memory_order_acquire) == applied;
    if (applied > other.settled.load(std::memory_order_acquire)) flush_status(s, l, other);
  }
  return idle;
}

}  // namespace

void settle(state& s, lane& l) noexcept {
  l.handled.clear();
  l.settling.clear();
  if (SCUTE_PLANTED(settle)) return;
  const uint64_t me = l.index + 1;
  for (const piece& p : l.pieces) {
    const stripe_owner o = s.locks.owner(p.stripe);
    if (o.who() == stripe_owner::none || o.who() == me) continue;
    if (o.who() == stripe_owner::many) {
      // Whose entries hang on the word is not known, but all of them were decided before they came to
      // write there. (Found by the crash explorer: a lane that was still at it was forgotten.)
      if (SCUTE_PLANTED(settle_many) || flush_all_statuses(s, l) || SCUTE_PLANTED(settle_busy))
        l.handled.push_back({p.stripe, o});
      continue;
    }
    lane& other = s.lanes[o.lane()];
    if (!other.has_settled(o.sequence())) flush_status(s, l, other);
  }
}

void settle_all(state& s, lane& l) {
  l.settling.clear();
  l.settling.reserve(s.lanes.size());
  for (lane& other : s.lanes)
    if (&other != &l && other.applied.load(std::memory_order_acquire) >
                            other.settled.load(std::memory_order_acquire))
      flush_status(s, l, other);
  if (l.settling.empty()) return;
  l.w.fence();
  s.require_healthy();
  settled(l);
}

void settled(lane& l) noexcept {
  for (const auto& p : l.settling) p.other->raise_settled(p.applied);
  l.settling.clear();
}

namespace {

// The owner to leave in a stripe that l has just written under.
stripe_owner next_owner(const state& s, const lane& l, uint32_t stripe, stripe_owner old) noexcept {
  const stripe_owner mine = stripe_owner::of(l.index, l.sequence);
  if (old.who() == stripe_owner::none || old.who() == mine.who()) return mine;
  if (old.who() == stripe_owner::many) {
    for (const auto& h : l.handled)
      if (h.stripe == stripe && h.owner == old) return mine;
  } else if (s.lanes[old.lane()].has_settled(old.sequence())) {
    return mine;
  }
  if (SCUTE_PLANTED(owner_many)) return mine;
  // Two lanes' entries now hang on this word; a counter tells one `many` from the next.
  return stripe_owner{((old.sequence() + 1) & stripe_owner::sequence_mask) << 10 |
                      stripe_owner::many};
}

}  // namespace

void apply(state& s, lane& l) noexcept {
  for (const piece& p : l.pieces) {
    const auto merge = [&](stripe_owner old) noexcept { return next_owner(s, l, p.stripe, old); };
    std::byte* data = s.at(p.offset);
    if (s.has_parity && p.length <= atomic_parity_max) {
      if (!SCUTE_PLANTED(stripe_shared) && !s.locks.lock_shared(p.stripe))
        l.w.count.lock_waits.add(1);
      {
        const holding here(s, p.stripe, true);
        codec::xor_delta(l.scratch, data, p.src, p.length);
        std::byte* parity = s.at(p.parity);
        holding::piece(p.offset, p.parity, p.length, p.src, nullptr, l.scratch);
        enter_phase(hold::phase::parity);
        if (!SCUTE_PLANTED(parity_atomic))
          codec::xor_into_atomic(parity, l.scratch, p.length, this_thread_holds.done);
        if (SCUTE_PLANTED(stripe_shared)) s.locks.lock_shared(p.stripe);
        if (!SCUTE_PLANTED(parity_flush)) l.w.flush(parity, p.length, medium::purpose::parity);
        enter_phase(hold::phase::data);
        l.w.stream(data, p.src, p.length, p.why);
      }
      s.locks.unlock_shared(p.stripe, merge);
      continue;
    }
    if (!SCUTE_PLANTED(stripe_exclusive) && !s.locks.lock_exclusive(p.stripe))
      l.w.count.lock_waits.add(1);
    {
      const holding here(s, p.stripe, false);
      if (s.has_parity) {
        std::byte* parity = s.at(p.parity);
        codec::xor_encode(l.scratch, parity, data, p.src, p.length);
        if (SCUTE_PLANTED(stripe_exclusive)) s.locks.lock_exclusive(p.stripe);
        holding::piece(p.offset, p.parity, p.length, p.src, l.scratch, nullptr);
        enter_phase(hold::phase::parity);
        if (!SCUTE_PLANTED(parity_vector))
          l.w.stream(parity, l.scratch, p.length, medium::purpose::parity);
        enter_phase(hold::phase::data);
      }
      l.w.stream(data, p.src, p.length, p.why);
    }
    s.locks.unlock_exclusive(p.stripe, p.length >= medium::nt_threshold, merge);
  }
}

void overlay_in_place(state& s, uint64_t offset, const std::byte* old, uint64_t length, bool add,
                      bool held) {
  const auto remove = [&](uint64_t end) {
    for_each_block(s.geo, offset, end - offset,
                   [&](uint64_t at, const cell&, uint64_t) { s.overlaid.remove(at); });
  };
  if (!add) return remove(offset + length);
  uint64_t done = offset;
  try {
    for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
      s.overlaid.add(at, n, old + (at - offset));
      done = at + n;
      if (held) return;
      // Who is decoding this column may have looked for overlays before; the first store has to wait.
      const uint32_t stripe = stripes::index(c.zone, (s.has_parity ? c.column : at) / column_block);
      s.locks.lock_exclusive(stripe);
      s.locks.unlock_exclusive(stripe);
    });
  } catch (...) {
    remove(done);
    throw;
  }
}

bool keep_in_place(state& s, uint64_t offset, const std::byte* now, uint64_t length) noexcept {
  bool kept = true;
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell&, uint64_t) {
    kept = s.overlaid.keep(at, now + (at - offset)) && kept;
  });
  return kept;
}

void apply_in_place(state& s, lane& l, uint64_t offset, const std::byte* old, const std::byte* now,
                    uint64_t length) noexcept {
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
    const uint32_t stripe = stripes::index(c.zone, (s.has_parity ? c.column : at) / column_block);
    if (!SCUTE_PLANTED(stripe_in_place) && !s.locks.lock_exclusive(stripe))
      l.w.count.lock_waits.add(1);
    {
      const holding here(s, stripe, false);
      if (s.has_parity) {
        const uint64_t parity_at = parity_offset(s.geo, c.zone, c.column);
        std::byte* parity = s.at(parity_at);
        codec::xor_encode(l.scratch, parity, old + (at - offset), now + (at - offset), n);
        if (SCUTE_PLANTED(stripe_in_place)) s.locks.lock_exclusive(stripe);
        holding::piece(at, parity_at, static_cast<uint32_t>(n), now + (at - offset), l.scratch,
                       nullptr);
        enter_phase(hold::phase::parity);
        if (!SCUTE_PLANTED(parity_in_place))
          l.w.stream(parity, l.scratch, n, medium::purpose::parity);
        enter_phase(hold::phase::data);
      }
      s.overlaid.remove(at);
    }
    s.locks.unlock_exclusive(stripe, n >= medium::nt_threshold,
                             [&](stripe_owner o) noexcept { return next_owner(s, l, stripe, o); });
  });
}

void recompute(state& s, medium::writer& w, uint64_t offset, uint64_t length) {
  if (!s.has_parity) return;
  gather_room room;
  alignas(64) std::byte sum[column_block];
  for_each_block(s.geo, offset, length, [&](uint64_t, const cell& c, uint64_t n) {
    gather(s, c.zone, c.column, n, UINT64_MAX, false, room, sum);
    w.stream(s.at(parity_offset(s.geo, c.zone, c.column)), sum, n, medium::purpose::parity);
  });
}

void decode(state& s, uint64_t offset, std::byte* out, uint64_t length) {
  gather_room room;
  for_each_block(s.geo, offset, length, [&](uint64_t, const cell& c, uint64_t n) {
    const exclusive_stripe hold(s, c.zone, c.column);
    gather(s, c.zone, c.column, n, c.row, true, room, out);
    out += n;
  });
}

void column_syndrome(state& s, uint64_t zone, uint64_t column, uint64_t length, std::byte* out) {
  gather_room room;
  const exclusive_stripe hold(s, zone, column);
  gather(s, zone, column, length, UINT64_MAX, true, room, out);
}

bool column_consistent(state& s, uint64_t zone, uint64_t column, uint64_t length) {
  alignas(64) std::byte sum[column_block];
  column_syndrome(s, zone, column, length, sum);
  return codec::is_zero(sum, length);
}

bool repair_parity(state& s, medium::writer& w, uint64_t zone, uint64_t column, uint64_t length,
                   const std::byte* syndrome, bool fenced) {
  gather_room room;
  alignas(64) std::byte sum[column_block];
  exclusive_stripe hold(s, zone, column);
  if (syndrome != nullptr) {
    gather(s, zone, column, length, UINT64_MAX, true, room, sum);
    if (std::memcmp(sum, syndrome, length) != 0) return false;
    codec::xor_into(sum, s.at(parity_offset(s.geo, zone, column)), length);
  } else {
    gather(s, zone, column, length, UINT64_MAX, false, room, sum);
  }
  hold.streamed = true;
  w.stream(s.at(parity_offset(s.geo, zone, column)), sum, length, medium::purpose::parity);
  if (fenced) w.fence();
  return true;
}

void write_back(state& s, medium::writer& w, uint64_t offset, const std::byte* damaged,
                const std::byte* bytes, uint64_t length) noexcept {
  for_each_block(s.geo, offset, length, [&](uint64_t at, const cell& c, uint64_t n) {
    exclusive_stripe hold(s, c.zone, c.column, !SCUTE_PLANTED(stripe_write_back));
    hold.streamed = true;
    const writes_under_optimistic_reads mark;
    if (SCUTE_PLANTED(repair_newer) || std::memcmp(s.at(at), damaged, n) == 0)
      w.stream(s.at(at), bytes, n, medium::purpose::data);
    bytes += n;
    damaged += n;
  });
}

}  // namespace scute::pool
