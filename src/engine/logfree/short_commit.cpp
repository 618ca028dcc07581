// SPDX-License-Identifier: BSD-3-Clause
#include "engine/logfree/short_commit.hpp"

#include <algorithm>
#include <cstring>

#include "base/planted.hpp"
#include "codec/diff.hpp"
#include "codec/parity.hpp"
#include "pool/fragment.hpp"
#include "pool/grip.hpp"
#include "pool/optimistic.hpp"
#include "pool/resolver.hpp"

namespace scute::core::engine {
namespace {

using change = tx::small_member::change;

// What differs in a member is written in at most that many parts, with join_gap equal bytes between two of them: a
// part of its own costs a piece.
constexpr size_t parts_max = 8, join_gap = 64;
// Up to here a payload is looked through word by word, and is one part.
constexpr uint64_t by_words_max = 128;

uint64_t word_at(const std::byte* p) noexcept {
  uint64_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

// From the first word that differs to the last; n a multiple of 8.
codec::diff_range hull_of(const std::byte* a, const std::byte* b, size_t n) noexcept {
  size_t begin = 0, end = n;
  while (begin < n && word_at(a + begin) == word_at(b + begin)) begin += 8;
  while (end > begin && word_at(a + end - 8) == word_at(b + end - 8)) end -= 8;
  return {begin, end};
}

// Somebody may be writing there, and what is read does not matter: that it can be read does.
[[gnu::no_sanitize("thread")]] void touch(const std::byte* at) noexcept {
  static_cast<void>(*static_cast<const volatile std::byte*>(at));
}

}  // namespace

// SHORT-3
void short_commit::seal() noexcept {
  const uint64_t tag = format::make_tag(s_.sb.epoch, l_.index, l_.sequence + 1);
  for (size_t i = 0; i < members_.size(); ++i) {
    const tx::small_member& m = members_[i];
    const bool freed = m.what == change::freed;
    const tx::small_member& next = members_[i + 1 == members_.size() ? 0 : i + 1];
    format::fragment_header h;
    h.type = freed ? 0 : m.type;
    h.meta = freed ? format::make_meta(0, format::role::free, m.generation)
                   : format::make_meta(m.size, format::role::live, m.generation);
    h.tag = tag;
    h.next = SCUTE_PLANTED(ring) ? m.header : next.header;
    h.checksum = pool::header_checksum(freed ? codec::checksum_kind::crc32c : s_.checksum, m.header,
                                       h, m.image + format::header_size, freed ? 0 : m.size);
    std::memcpy(m.image, &h, sizeof h);
  }
}

// SHORT-2. False if two members have a column in common.
bool short_commit::plan() {
  pool::window_columns& w = l_.now();
  w.clear();
  const auto lock = [&w](uint32_t stripe) {
    for (const uint32_t x : w.stripes)
      if (x == stripe) return;
    w.stripes.push_back(stripe);
    for (uint32_t* at = &w.stripes.back(); at != w.stripes.data() && at[-1] > at[0]; --at)
      std::swap(at[-1], at[0]);
  };
  for (const tx::small_member& m : members_) {
    const uint64_t extent = SCUTE_PLANTED(window_extent) ? format::header_size : m.extent();
    const uint64_t begin = m.zone * s_.geo.row_size + m.column;
    w.columns.push_back({begin, begin + extent, m.what == change::fresh});
    for (pool::column_range* at = &w.columns.back();
         at != w.columns.data() && at[-1].begin > at[0].begin; --at)
      std::swap(at[-1], at[0]);
    lock(stripe_of(m, 0));
    if (m.column % pool::column_block + extent > pool::column_block) lock(stripe_of(m, extent - 1));
  }
  for (size_t i = 1; i < w.columns.size(); ++i)
    if (w.columns[i].begin < w.columns[i - 1].end) return false;
  return true;
}

void short_commit::reserve() {
  // A member's header, the parts of its payload, and what a block's end divides.
  constexpr size_t pieces = tx::small_members_max * (parts_max + 2);
  // The lane's other window may be somebody's who drains it.
  if (!l_.now().roomy) [[unlikely]] {
    l_.pieces.reserve(pieces);
    l_.now().parity.reserve(pieces * s_.geo.parity);
    l_.now().roomy = true;
  }
  l_.pieces.clear();
  uint64_t bytes = 0;
  for (const tx::small_member& m : members_) bytes += m.extent();
  l_.deltas.clear();
  room_ = l_.deltas.extend((1 + uint64_t{s_.geo.parity}) * bytes);
}

// As window::require_columns(), which is for the pieces of the general way.
void short_commit::require_columns() noexcept {
  if (SCUTE_PLANTED(window_lost_pages)) return;
  for (const tx::small_member& m : members_)
    for (uint32_t p = 0; p < s_.geo.parity; ++p) {
      const std::byte* parity = s_.at(m.parity + p * s_.geo.row_size);
      touch(parity);
      touch(parity + m.extent() - 1);
    }
  if (s_.medium->any_revoked()) window(s_, l_).require_columns();
}

// LF-9
bool short_commit::has_changed(const tx::small_member& m) const noexcept {
  if (m.what == change::fresh) return false;
  if (s_.overlaid.open_elsewhere(m.header + format::header_size, m.room, l_.index)) return true;
  if (SCUTE_PLANTED(conflict_test)) return false;
  format::fragment_header h;
  std::memcpy(&h, s_.at(m.header), sizeof h);
  // A header that is damaged is for the general way to mend, and not to get into the parity.
  if (m.what == change::freed)
    return h.tag != m.read.tag || format::meta_role(h.meta) != format::role::live ||
           format::meta_generation(h.meta) != m.generation;
  return std::memcmp(&h, &m.read, sizeof h) != 0;
}

void short_commit::add(const tx::small_member& m, uint64_t begin, uint64_t end,
                       medium::purpose why) noexcept {
  while (begin != end) {
    const uint64_t n =
        std::min(end - begin, pool::column_block - (m.column + begin) % pool::column_block);
    l_.pieces.push_back({m.header + begin, m.parity + begin, m.image + begin,
                         static_cast<uint32_t>(n), stripe_of(m, begin), why, room_,
                         room_ + n});  // there is room (SHORT-4)
    if (!SCUTE_PLANTED(window_delta_shared) &&
        !(SCUTE_PLANTED(window_delta_block) && begin + n != end))
      room_ += (1 + uint64_t{s_.geo.parity}) * n;
    begin += n;
  }
}

// The parts of a member that differ become pieces: its header, and of its payload what has changed. False if nothing
// has.
bool short_commit::cut(const tx::small_member& m) noexcept {
  using medium::purpose;
  constexpr uint64_t head = format::header_size;
  if (m.what == change::freed) return add(m, 0, head, purpose::metadata), true;
  if (m.what == change::fresh) return add(m, 0, head + m.size, purpose::data), true;
  const std::byte *there = s_.at(m.header + head), *here = m.image + head;
  codec::diff_range d{};
  if (m.size <= by_words_max && m.size % 8 == 0) {
    d = hull_of(there, here, m.size);
    if (d.begin == d.end) return false;
  } else if (!codec::next_diff(there, here, m.size, 0, join_gap, d)) {
    return false;
  }
  if (d.begin == 0) {
    add(m, 0, head + d.end, purpose::data);
  } else {
    add(m, 0, head, purpose::metadata);
    add(m, head + d.begin, head + d.end, purpose::data);
  }
  for (size_t parts = 2;
       d.end + join_gap < m.size && codec::next_diff(there, here, m.size, d.end, join_gap, d);
       ++parts)
    add(m, head + d.begin, head + (parts == parts_max ? d.end = m.size : d.end), purpose::data);
  return true;
}

// Under the window. False if a member is not what it was, or is what it was.
bool short_commit::find_pieces() noexcept {
  const pool::optimistic_reads mark;
  if (s_.medium->failed()) return false;  // WIN-5
  for (const tx::small_member& m : members_)
    if (has_changed(m) || !cut(m)) return false;
  return true;
}

// As window::write_data(), for pieces of which none has a column in common with another one.
void short_commit::write_data() noexcept {
  const uint32_t parities = s_.geo.parity;
  size_t i = 0;
  for (const pool::piece& p : l_.pieces) {
    SCUTE_ASSERT(p.offset % pool::column_block + p.length <= pool::column_block &&
                 (l_.now().has(p.stripe) || SCUTE_PLANTED(window_unlocked)));
    l_.progress.begin(i++);
    l_.w.encode({s_.at(p.offset), p.src, s_.at(p.parity), p.delta, p.next, p.length},
                &l_.progress.done);
    writes_.add(p.why, p.offset, p.length);
    if (parities == 1) continue;
    l_.progress.begin(i - 1, p.length);
    for (uint32_t k = 1; k < parities; ++k) add_delta(s_, p, k, p.next + k * uint64_t{p.length});
  }
}

void short_commit::write_parity() noexcept {
  const uint32_t parities = s_.geo.parity;
  pool::window_columns& now = l_.now();
  size_t i = 0;
  for (const pool::piece& p : l_.pieces)
    for (uint32_t k = 0; k < parities; ++k) {
      const uint64_t at = p.parity + k * s_.geo.row_size;
      std::byte* next = p.next + k * uint64_t{p.length};
      l_.progress.begin(i++);
      if (SCUTE_PLANTED(window_parity_line) && &p != l_.pieces.data() &&
          p.parity / 64 == ((&p)[-1].parity + (&p)[-1].length - 1) / 64)
        codec::xor_delta(next, next, p.delta, p.length);
      if (SCUTE_PLANTED(window_several) && k != 0) continue;
      if (!SCUTE_PLANTED(window_parity)) l_.w.put(s_.at(at), next, p.length, &l_.progress.done);
      now.parity.push_back({at, p.length});
      writes_.add(medium::purpose::parity, at, p.length);
    }
  l_.progress.begin(i);
}

[[gnu::flatten]] bool short_commit::run(tx::slot_keeper* freed) {
  using medium::cost_part;
  using medium::cost_step;
  if (s_.resolving->pending() || s_.plain_encoding || s_.medium->failed()) return false;
  cost_step(cost_part::plan);
  window w(s_, l_);
  w.planned();
  if (!plan()) return false;
  cost_step(cost_part::seal);
  seal();
  cost_step(cost_part::plan);
  reserve();
  require_columns();
  w.take_back();
  w.enter();  // nothing is held, so it waits for what it does not get
  {
    const pool::grip_scope here(s_, l_, pool::grip::phase::reading);
    if (find_pieces()) {
      cost_step(cost_part::data);
      w.go_to<window::point::open>(window::point::data);
      pool::enter_phase(pool::grip::phase::data);
      write_data();
    }
  }
  if (l_.point != window::point::data) {
    w.give_up();
    return false;
  }
  if (SCUTE_PLANTED(window_parity_early)) store_parity(w);
  cost_step(cost_part::fence);
  l_.w.fence(fence_site::window_short);
  cost_step(cost_part::end);
  ++l_.sequence;
  w.release_last();
  if (s_.medium->failed() || SCUTE_PLANTED(window_release)) {
    if (!s_.medium->failed()) store_parity(w);
    w.leave();
    s_.require_healthy();
    return true;
  }
  if (freed != nullptr) freed->give_back();
  if (!SCUTE_PLANTED(window_parity_early)) store_parity(w);
  l_.w.count_writes(writes_);
  l_.w.count.shorts.add(1);
  w.defer();
  s_.watch.deferred();
  return true;
}

// The phase that follows the fence.
void short_commit::store_parity(window& w) noexcept {
  medium::cost_step(medium::cost_part::parity);
  w.go_to<window::point::data>(window::point::parity);
  const pool::grip_scope here(s_, l_, pool::grip::phase::parity);
  write_parity();
  medium::cost_step(medium::cost_part::end);
}

}  // namespace scute::core::engine
