// SPDX-License-Identifier: BSD-3-Clause
// One fragment and its ring: they explain a block that does not add up (RES-4, RES-5).
#include <algorithm>
#include <cstring>

#include "codec/parity/parity.hpp"
#include "core/engine/logfree/extents.hpp"
#include "core/engine/logfree/recovery_decision.hpp"
#include "core/engine/logfree/resolution.hpp"
#include "core/repair/erasure/decode_candidates.hpp"
#include "core/repair/erasure/hybrid_decode.hpp"
#include "core/repair/page_layout.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {
namespace {

// Detects circles of headers that do not lead back to where a walk began (Brent). Damage, or an
// attacker, may have linked them.
class way_round {
 public:
  // To be called with each place of the walk. Returns true, sooner or later, if it goes in a
  // circle.
  bool closes(uint64_t place) noexcept {
    if (place == mark_) return true;
    if (++steps_ == limit_) {
      mark_ = place;
      steps_ = 0;
      limit_ *= 2;
    }
    return false;
  }

 private:
  uint64_t mark_ = UINT64_MAX, steps_ = 0, limit_ = 1;
};

}  // namespace

format::fragment_header resolution::header_at(uint64_t offset) const noexcept {
  format::fragment_header h;
  std::memcpy(&h, s_.at(offset), sizeof h);
  return h;
}

// Repairs an invalid fragment with the version that its columns decode to, or a mixture of that and
// the stored bytes. Returns false if the checksum accepts neither.
bool resolution::repair(const pool::fragment& f) {
  // (The search for a decision may come back to the fragment that it began with.)
  if (is_left_alone(f) || repairing_.contains(f.header)) return false;
  repairing_.insert(f.header);
  struct end {
    std::set<uint64_t>& repairing;
    uint64_t header;
    ~end() { repairing.erase(header); }
  } const when_done{repairing_, f.header};
  const std::vector<repair::unit> units = repair::units_of(f);
  std::vector<std::byte> image;
  if (!find_sound(f, image)) return false;
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  const auto stored = header_at(f.header);
  // This would be another version of what may be a member: not without a decision.
  if (without_decisions_ && h.tag != stored.tag && in_doubt(stored.tag)) return false;
  if (h.tag != stored.tag && is_decided(f, stored) &&
      decision_for(stored::invalid, decoded::other, ring::decided) == recovery_decision::lost) {
    if (losing_.insert(f.header).second) lose(f);
    return false;
  }
  // Only the bytes that the checksum vouches for (LF-5).
  size_t sure = format::header_size + pool::covered(s_, f, h);
  // The header is written last: it says that this is a torn member
  // (core/engine/logfree/crash_or_damage.hpp, TRACE-2).
  for (auto u = units.rbegin(); u != units.rend(); ++u) {
    if (u->at >= sure) continue;
    const size_t n = std::min(u->length, sure - u->at);
    write(u->offset, image.data() + u->at, n);
  }
  if (crash_or_damage_.put_back(f, stored, h)) rolled_back_.fetch_add(1, std::memory_order_relaxed);
  ++explained_;
  return true;
}

// For a valid fragment: if it is the open cell of its columns, resolves it and returns true.
bool resolution::explain(const pool::fragment& f) {
  if (f.metadata || !in_doubt(header_at(f.header).tag)) return false;
  repair::decode_candidate before;
  if (decided_headers_.count(f.header) != 0 || !find_other(f, before)) return false;
  // The walk may lose a member because another one has testified. Then the same testimony counts
  // for this fragment.
  const ring members = ring_complete(f)                     ? ring::complete
                       : is_decided(f, header_at(f.header)) ? ring::decided
                                                            : ring::broken;
  switch (decision_for(stored::valid, decoded::other, members)) {
    case recovery_decision::finish:
      decided_headers_.insert(f.header);
      finish_ring(f);
      ++explained_;
      finished_.fetch_add(1, std::memory_order_relaxed);
      return true;
    case recovery_decision::roll_back:
      decided_headers_.insert(f.header);
      // The header last: while it is the new one, the fragment is in doubt or invalid.
      write(f.payload, before.payload.data(), before.payload.size());
      write(f.header, reinterpret_cast<const std::byte*>(&before.header), sizeof before.header);
      ++explained_;
      rolled_back_.fetch_add(1, std::memory_order_relaxed);
      return true;
    default: return false;
  }
}

// ---- rings --------------------------------------------------------------------------------------

bool resolution::walk(const pool::fragment& f, invalid_member invalid,
                      std::vector<pool::fragment>& members, uint64_t& end) {
  const uint64_t tag = header_at(f.header).tag;
  way_round circle;
  pool::fragment m = f;
  for (;;) {
    if (circle.closes(m.header)) return false;
    end = m.header;
    // A member that is damaged, not torn, may be of a decided transaction. Its columns restore it
    // if they have the new parity already. A torn member comes back with its old tag.
    if (invalid == invalid_member::repair && !pool::valid(s_, m)) {
      mutex_.assume_held();
      if (!repair_with_help(m)) {
        if (losing_.contains(m.header)) broken_.insert(tag);
        return false;
      }
    }
    const auto h = header_at(m.header);
    if (h.tag != tag || pool::covered(s_, m, h) == pool::not_covered) {
      if (invalid == invalid_member::pass) return false;
      mutex_.assume_held();
      if (pool::valid(s_, m)) broken_.insert(tag);
      return false;
    }
    members.push_back(m);
    if (h.next == f.header) return true;
    end = h.next;
    if (repair::place_at(s_, h.next, m)) continue;
    if (invalid == invalid_member::pass) return false;
    mutex_.assume_held();
    // Or the header that says where the member lies is damaged.
    const pool::cell c = pool::cell_of(s_.geo, h.next);
    fragments_in(c.zone, c.column / block_size, first_headers::are_believed);
    if (!repair::place_at(s_, h.next, m)) return false;
  }
  return false;
}

// RES-10: whether a ring is complete must not depend on which block is looked at first.
bool resolution::repair_with_help(const pool::fragment& f) {
  if (repair(f)) return true;
  constexpr uint64_t none = UINT64_MAX;
  remains left;
  left.open.push_back({f, 0, what::claimed});
  return help(none, none, left) && (pool::valid(s_, f) || repair(f));
}

// Whether the header's columns have the parity that its commit gave them.
bool resolution::testifies(uint64_t header) const noexcept {
  alignas(64) std::byte syndrome[pool::syndrome_max];
  const pool::cell c = pool::cell_of(s_.geo, header);
  pool::column_syndrome(s_, c.zone, c.column, format::header_size, syndrome);
  return codec::is_zero(syndrome, s_.geo.parity * format::header_size);
}

// Whether the fragment was part of an object before the transaction of its header. A further
// fragment of an object that is new, or has grown, had no owner before: only the object's head goes
// back.
bool resolution::was_there(const pool::fragment& m) {
  if (m.index == 0) return true;
  const pool::fragment first = repair::first_of(m);
  auto h = header_at(first.header);
  if (h.tag == header_at(m.header).tag) {
    repair::decode_candidate before;
    if (!find_other(first, before)) return false;  // it testifies itself
    h = before.header;
  }
  return format::meta_role(h.meta) == format::role::live &&
         format::meta_size(h.meta) > m.index * format::fragment_payload;
}

// For a valid member whose columns decode to no version before, even after damage next to it was
// repaired. Only the parity of a decided transaction, or damage, has that effect.
bool resolution::cannot_go_back(const pool::fragment& m) {
  repair::decode_candidate before;
  if (!was_there(m) || find_other(m, before)) return false;
  without_decisions_ = true;
  struct end {
    bool& without;
    ~end() { without = false; }
  } const when_done{without_decisions_};
  repair_neighbours(m);
  return !find_other(m, before);
}

// Whether the transaction of a header in doubt was decided, to go by everything except its own
// fragment (RES-12, RES-13).
bool resolution::is_decided(const pool::fragment& f, const format::fragment_header& stored) {
  if (!in_doubt(stored.tag) || pool::covered(s_, f, stored) == pool::not_covered) return false;
  if (const auto known = decided_.find(stored.tag); known != decided_.end()) return known->second;
  std::vector<pool::fragment> others;  // of which no header testifies
  bool testified = false, closed = false;
  way_round circle;
  for (uint64_t at = stored.next; !testified;) {
    closed = at == f.header;
    if (closed || circle.closes(at)) break;
    pool::fragment m;
    if (!repair::place_at(s_, at, m)) {
      if (asking_ || without_decisions_) break;
      // Or the header that says where the member lies is damaged.
      asking_ = true;
      struct end {
        bool& asking;
        ~end() { asking = false; }
      } const when_done{asking_};
      const pool::cell c = pool::cell_of(s_.geo, at);
      fragments_in(c.zone, c.column / block_size, first_headers::are_believed);
      if (!repair::place_at(s_, at, m)) break;
    }
    auto h = header_at(at);
    if (h.tag != stored.tag || pool::covered(s_, m, h) == pool::not_covered) {
      // Its header may be damaged while its columns have the new one.
      std::vector<std::byte> image;
      if (without_decisions_ || pool::valid(s_, m) || !find_sound(m, image)) break;
      std::memcpy(&h, image.data(), sizeof h);
      testified = h.tag == stored.tag;
      break;
    }
    // In a resolved block other transactions may have changed these columns. A member that the
    // block kept was decided, unless it was kept next to damage.
    const pool::cell c = pool::cell_of(s_.geo, at);
    const bool over = is_over(c.zone, c.column / block_size);
    testified = (over ? pool::valid(s_, m) : testifies(at)) && !computed_.contains(at);
    if (!over || computed_.contains(at)) others.push_back(m);
    at = h.next;
  }
  if (closed && !testified && !without_decisions_)
    testified = std::any_of(others.begin(), others.end(), [this](const pool::fragment& m) {
      mutex_.assume_held();
      return pool::valid(s_, m) &&
             (computed_.contains(m.header) ? was_there(m) : cannot_go_back(m));
    });
  // A header of another transaction may look like one of this transaction, by damage.
  if ((testified || !others.empty()) && !without_decisions_ && !asking_)
    decided_.emplace(stored.tag, testified);
  return testified;
}

// Blocks that the fragment has bytes in.
std::vector<resolution::block_number> resolution::blocks_of(const pool::fragment& f) const {
  std::vector<block_number> blocks;
  for (const repair::unit& u : repair::units_of(f))
    for_each_part(s_.geo, u.offset, u.length,
                  [&](uint64_t, uint64_t zone, uint64_t column, uint64_t) {
                    if (blocks.empty() || blocks.back().zone != zone ||
                        blocks.back().block != column / block_size)
                      blocks.push_back({zone, column / block_size});
                  });
  return blocks;
}

// Repairs the fragment's neighbours: everything else that is invalid in its blocks.
void resolution::repair_neighbours(const pool::fragment& f) {
  for (const auto [zone, block] : blocks_of(f))
    for (const found& x : fragments_in(zone, block, first_headers::are_believed))
      if (x.is != what::place && x.fragment.header != f.header && !pool::valid(s_, x.fragment))
        repair(x.fragment);
}

void resolution::lose(const pool::fragment& f) {
  report_lost(f);
  repair_neighbours(f);
  for (const repair::unit& u : repair::units_of(f))
    for_each_part(s_.geo, u.offset, u.length,
                  [&](uint64_t, uint64_t zone, uint64_t column, uint64_t n) {
                    mutex_.assume_held();
                    recompute_as_it_is(zone, column, n);
                  });
}

bool resolution::ring_complete(const pool::fragment& f) {
  const uint64_t tag = header_at(f.header).tag;
  if (complete_.contains(tag)) return true;
  if (broken_.contains(tag)) return false;
  std::vector<pool::fragment> members;
  uint64_t end = 0;
  if (!walk(f, invalid_member::repair, members, end)) return false;
  complete_.insert(tag);
  return true;
}

// f is a member of a decided transaction, and its header's columns have the parity of before.
// Recomputing these explains f; its payload's columns follow when nothing else explains them, block
// by block (RES-9). The columns of the other members may have the new parity already, and a session
// that resolved them may have opened them to other transactions. So they are left to the resolution
// of their own blocks.
void resolution::finish_ring(const pool::fragment& f) {
  finish_others(f);
  const pool::cell c = pool::cell_of(s_.geo, f.header);
  for (const found& x : fragments_in(c.zone, c.column / block_size, first_headers::are_believed))
    if (x.is != what::place && !pool::valid(s_, x.fragment)) repair(x.fragment);
  recompute(c.zone, c.column, format::header_size);
}

// The members that can be reached from f and were not finished before. closed: the ring is closed,
// so these are all of them.
std::vector<pool::fragment> resolution::not_finished(const pool::fragment& f, bool& closed) {
  const uint64_t tag = header_at(f.header).tag;
  std::vector<pool::fragment> members;
  closed = false;
  if (finished_tags_.contains(tag)) return members;
  if (!broken_.contains(tag)) {
    uint64_t end = 0;
    closed = walk(f, invalid_member::pass, members, end);
    return members;
  }
  // After the first member that was finished, all were.
  way_round circle;
  for (pool::fragment m = f;;) {
    const auto h = header_at(m.header);
    if (circle.closes(m.header) || h.tag != tag || pool::covered(s_, m, h) == pool::not_covered ||
        finished_headers_.contains(m.header))
      return members;
    members.push_back(m);
    if (!repair::place_at(s_, h.next, m)) return members;
  }
}

// Makes the stores of a decided transaction durable (RES-8), and queues the blocks of its members.
void resolution::finish_others(const pool::fragment& f) {
  bool closed = false;
  const std::vector<pool::fragment> members = not_finished(f, closed);
  if (members.empty()) return;
  const auto extents = [&](auto&& fn) {
    for (const pool::fragment& m : members)
      for_each_extent(
          m, pool::covered(s_, m, header_at(m.header)),
          [&](uint64_t offset, uint64_t length) { for_each_part(s_.geo, offset, length, fn); });
  };
  extents([&](uint64_t offset, uint64_t, uint64_t, uint64_t n) {
    mutex_.assume_held();
    w_.flush(s_.at(offset), n, medium::purpose::data);
  });
  w_.fence(fence_site::resolve_data);
  s_.require_healthy();
  extents([&](uint64_t, uint64_t zone, uint64_t column, uint64_t) {
    mutex_.assume_held();
    const block_number b{zone, column / block_size};
    if (due_.empty() || due_.back() != b) due_.push_back(b);
  });
  const uint64_t tag = header_at(f.header).tag;
  if (complete_.contains(tag) && closed) finished_tags_.insert(tag);
  if (broken_.contains(tag))
    for (const pool::fragment& m : members) finished_headers_.insert(m.header);
}

}  // namespace scute::core::engine
