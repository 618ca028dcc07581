// SPDX-License-Identifier: BSD-3-Clause
// The short way of engine `spec`: a few small objects, changed, made or freed, as nearly all transactions have. What the
// general way derives from patches is derived from the buffers here; the frames, and what becomes of them, are
// the same.
#include <cstring>
#include <utility>

#include "codec/diff.hpp"
#include "engine/common/in_place.hpp"
#include "engine/spec/spec.hpp"
#include "pool/columns.hpp"
#include "pool/fragment.hpp"
#include "pool/optimistic.hpp"
#include "tx/claim_guard.hpp"

namespace scute::core::engine {
namespace {

using change = tx::small_member::change;

// What differs in a member is written in at most that many parts, with join_gap equal bytes between two of them: a
// record of its own costs 16 bytes and a piece. The first change is one part with the header if it begins
// within join_head bytes.
constexpr size_t parts_max = 8, join_gap = 64;
constexpr uint64_t join_head = 64;

// CONFLICT-1: the caller has its claim. What is odd about a header is for the general way to find out, and to mend.
bool is_unchanged(const pool::state& s, const pool::lane& l, const tx::small_member& m) noexcept {
  if (m.what == change::fresh) return true;
  const pool::optimistic_reads mark;
  if (s.overlaid.open_elsewhere(m.header + format::header_size, m.room, l.index)) return false;
  format::fragment_header h;
  std::memcpy(&h, s.at(m.header), sizeof h);
  if (m.what == change::contents || m.what == change::in_place)
    return std::memcmp(&h, &m.read, sizeof h) == 0;
  return h.tag == m.read.tag && format::meta_role(h.meta) == format::role::live &&
         format::meta_generation(h.meta) == m.generation;
}

void seal(const pool::state& s, const pool::lane& l, const tx::small_member& m) noexcept {
  const bool freed = m.what == change::freed;
  format::fragment_header h;
  h.type = freed ? 0 : m.type;
  h.meta = freed ? format::make_meta(0, format::role::free, m.generation)
                 : format::make_meta(m.size, format::role::live, m.generation);
  h.tag = format::make_tag(s.sb.epoch, l.index, l.sequence + 1);
  h.next = m.header;
  // Without checksums of objects the sum is of the header alone.
  const uint32_t covered = freed || !s.has_checksums ? 0 : m.size;
  h.checksum = pool::header_checksum(covered == 0 ? codec::checksum_kind::crc32c : s.checksum,
                                     m.header, h, m.image + format::header_size, covered);
  std::memcpy(m.image, &h, sizeof h);
}

}  // namespace

// A part of a member, which becomes a record, and a piece for each column block.
void spec::add_part(pool::lane& l, lane_state& mine, const tx::small_member& m, uint64_t begin,
                    uint64_t end, medium::purpose why) {
  mine.records.push_back(
      {m.header + begin, m.image + begin, end - begin, format::record_kind::data});
  while (begin < end) {
    const uint64_t n =
        std::min(end - begin, pool::column_block - (m.column + begin) % pool::column_block);
    const uint64_t at = m.header + begin;
    const uint64_t b = table_->number_of(at);
    l.pieces.push_back({at, m.parity + begin, m.image + begin, static_cast<uint32_t>(n),
                        table_->stripe_of(b), why});
    mine.blocks.push_back(b);
    begin += n;
  }
}

// Its header, and what differs of its payload, but for ranges in place. False if nothing does.
bool spec::add_changed(pool::lane& l, lane_state& mine, const tx::small_member& m) {
  using medium::purpose;
  constexpr uint64_t head = format::header_size;
  if (m.what == change::freed || m.what == change::in_place)
    return add_part(l, mine, m, 0, head, purpose::metadata), true;
  if (m.what == change::fresh) return add_part(l, mine, m, 0, head + m.size, purpose::data), true;
  const std::byte *there = s_.at(m.header) + head, *here = m.image + head;
  const pool::optimistic_reads mark;
  codec::diff_range d{};
  if (!codec::next_diff(there, here, m.size, 0, join_gap, d)) return false;
  if (d.begin <= join_head) {
    add_part(l, mine, m, 0, head + d.end, purpose::data);
  } else {
    add_part(l, mine, m, 0, head, purpose::metadata);
    add_part(l, mine, m, head + d.begin, head + d.end, purpose::data);
  }
  for (size_t parts = 2;
       d.end + join_gap < m.size && codec::next_diff(there, here, m.size, d.end, join_gap, d);
       ++parts) {
    const uint64_t end = parts == parts_max ? d.end = m.size : d.end;
    add_part(l, mine, m, head + d.begin, head + end, purpose::data);
  }
  return true;
}

bool spec::commit_short(pool::lane& l, std::span<const tx::small_member> members,
                        std::span<const tx::inplace_range> in_place, tx::slot_keeper*) {
  if (s_.medium->failed()) return false;
  if (in_place.empty() && room_->is_larger()) room_->shrink(l);
  tx::claim_guard claimed(s_, l);
  for (const tx::small_member& m : members)
    if (m.what != change::fresh) claimed.add(m.header + format::header_size);
  claimed.take();
  lane_state& mine = lanes_[l.index];
  mine.start();
  mine.blocks.clear();
  l.pieces.clear();
  if (!in_place.empty()) {
    keep_in_place(s_, l, in_place);
    if (s_.has_checksums) renew_images(l, members, in_place);
    plan_in_place(mine, in_place);
    mine.blocks.assign(mine.pinned.begin(), mine.pinned.end());
  }
  for (const tx::small_member& m : members) {
    if (!is_unchanged(s_, l, m)) return false;
    // Without checksums a change leaves the header as it is (CONFLICT-4).
    if (m.what == change::in_place && !s_.has_checksums) continue;
    seal(s_, l, m);
    if (!add_changed(l, mine, m)) return false;
  }
  make_room(l, mine, growth::allowed);
  decide(l, mine, 0, how::cached, in_place);
  l.w.count.shorts.add(1);
  s_.require_healthy();
  if (mine.reserved != 0) end_reservation(l, mine);
  s_.watch.deferred();
  return true;
}

}  // namespace scute::core::engine
