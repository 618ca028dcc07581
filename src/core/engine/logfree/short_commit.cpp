// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/short_commit.hpp"

#include <algorithm>
#include <cstring>

#include "codec/diff/diff.hpp"
#include "codec/parity/parity.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::engine {
namespace {

using change = tx::small_member::change;

// The bytes of a member that differ are written in at most this many parts, which at least join_gap
// equal bytes divide: each part costs a piece.
constexpr size_t parts_max = 8, join_gap = 64;
// If the payload's first change begins before this offset, it forms one part with the header: most
// likely both lie in the same line.
constexpr uint64_t join_head = 32;
// Payloads up to this size are compared word by word, and form one part.
constexpr uint64_t by_words_max = 128;

uint64_t word_at(const std::byte* p) noexcept {
  uint64_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

// From the first word that differs to the end of the last one. n is a multiple of 8.
codec::diff_range hull_of(const std::byte* a, const std::byte* b, size_t n) noexcept {
  size_t begin = 0, end = n;
  while (begin < n && word_at(a + begin) == word_at(b + begin)) begin += 8;
  while (end > begin && word_at(a + end - 8) == word_at(b + end - 8)) end -= 8;
  return {begin, end};
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
    h.next = next.header;
    h.checksum = pool::header_checksum(freed ? codec::checksum_kind::crc32c : s_.checksum, m.header,
                                       h, m.image + format::header_size, freed ? 0 : m.size);
    std::memcpy(m.image, &h, sizeof h);
  }
}

// SHORT-2. False if two members have a column in common.
bool short_commit::plan() {
  pool::window_columns& w = now_;
  w.clear();
  const auto lock = [&w](uint32_t stripe) {
    for (const uint32_t x : w.stripes)
      if (x == stripe) return;
    w.stripes.push_back(stripe);
    for (uint32_t* at = &w.stripes.back(); at != w.stripes.data() && at[-1] > at[0]; --at)
      std::swap(at[-1], at[0]);
  };
  for (const tx::small_member& m : members_) {
    const uint64_t extent = m.extent();
    const uint64_t begin = m.zone * row_size_ + m.column;
    w.columns.push_back({begin, begin + extent, m.what == change::fresh});
    for (pool::column_range* at = &w.columns.back();
         at != w.columns.data() && at[-1].begin > at[0].begin; --at)
      std::swap(at[-1], at[0]);
    lock(m.stripe);
    if (extent > in_first_block(m)) lock(second_stripe(m));
  }
  for (size_t i = 1; i < w.columns.size(); ++i)
    if (w.columns[i].begin < w.columns[i - 1].end) return false;
  return true;
}

// SHORT-5. False if the transaction has more ranges than there is room for.
bool short_commit::reserve() {
  // A member's header, the parts of its payload, and a division at the end of a block.
  constexpr size_t pieces = tx::small_members_max * (parts_max + 2);
  if (in_place_.size() > parts_max) return false;
  // A thread that drains the lane may be using its other window.
  if (!now_.roomy) [[unlikely]] {
    l_.pieces.reserve(pieces);
    now_.parity.reserve(pieces * parities_);
    now_.roomy = true;
  }
  l_.pieces.clear();
  uint64_t bytes = 0;
  for (const tx::small_member& m : members_) bytes += m.extent();
  l_.deltas.clear();
  room_ = l_.deltas.extend((1 + uint64_t{parities_}) * bytes);
  return true;
}

// Like window::require_columns(), which serves the pieces of the general way.
void short_commit::require_columns() noexcept {
  for (const tx::small_member& m : members_) touch_parity(s_, m.parity, m.extent());
  if (s_.medium->any_revoked()) window(s_, l_).require_columns();
}

// SHORT-5. Copies the bytes of the ranges to the images. Returns false if a page of them was lost,
// with the bytes stored there.
bool short_commit::gather() noexcept {
  const pool::in_flight_scope here(s_, l_, pool::in_flight_write::phase::reading);
  for (const tx::inplace_range& r : in_place_) {
    std::byte* now = image_of(r);
    std::memcpy(now, s_.at(r.offset), r.length);
    if (!pool::keep_in_place(s_, r.offset, now, r.length)) return false;
    l_.w.flush(s_.at(r.offset), r.length, medium::purpose::data);
  }
  return true;
}

std::byte* short_commit::image_of(const tx::inplace_range& r) const noexcept {
  for (const tx::small_member& m : members_)
    if (m.what == change::in_place && r.offset - m.header < m.extent())
      return m.image + (r.offset - m.header);
  SCUTE_ASSERT(false);
  return nullptr;
}

// LF-9
bool short_commit::has_changed(const tx::small_member& m) const noexcept {
  if (m.what == change::fresh || m.what == change::in_place) return false;
  if (s_.overlaid.open_elsewhere(m.header + format::header_size, m.room, l_.index)) return true;
  format::fragment_header h;
  std::memcpy(&h, base_ + m.header, sizeof h);
  // The general way repairs a damaged header; it must not get into the parity (VERIFY-2).
  return std::memcmp(&h, &m.read, sizeof h) != 0;
}

// Adds one piece; there is room (SHORT-4).
void short_commit::push(const tx::small_member& m, uint64_t begin, uint64_t n, uint32_t stripe,
                        medium::purpose why, const std::byte* old) noexcept {
  l_.pieces.push_back({m.header + begin, m.parity + begin, m.image + begin,
                       static_cast<uint32_t>(n), stripe, why, room_, room_ + n, old});
  room_ += (1 + uint64_t{parities_}) * n;
}

// Adds a part of a member, which the end of a block may divide.
void short_commit::add(const tx::small_member& m, uint64_t begin, uint64_t end, medium::purpose why,
                       const std::byte* old) noexcept {
  const uint64_t first = in_first_block(m);
  if (end <= first) return push(m, begin, end - begin, m.stripe, why, old);
  if (begin < first) {
    push(m, begin, first - begin, m.stripe, why, old);
    if (old != nullptr) old += first - begin;
    begin = first;
  }
  push(m, begin, end - begin, second_stripe(m), why, old);
}

// Adds its header, and the ranges, which are in place already.
void short_commit::cut_in_place(const tx::small_member& m) noexcept {
  add(m, 0, format::header_size, medium::purpose::metadata);
  for (const tx::inplace_range& r : in_place_)
    if (const uint64_t at = r.offset - m.header; at < m.extent())
      add(m, at, at + r.length, medium::purpose::data, r.old);
}

// Makes pieces of the parts of a member that differ: its header, and the changed bytes of its
// payload. Returns false if nothing has changed.
bool short_commit::cut(const tx::small_member& m) noexcept {
  using medium::purpose;
  constexpr uint64_t head = format::header_size;
  if (m.what == change::freed) return add(m, 0, head, purpose::metadata), true;
  if (m.what == change::fresh) return add(m, 0, head + m.size, purpose::data), true;
  if (m.what == change::in_place) return cut_in_place(m), true;
  const std::byte *there = base_ + m.header + head, *here = m.image + head;
  codec::diff_range d{};
  if (m.size <= by_words_max && m.size % 8 == 0) {
    d = hull_of(there, here, m.size);
    if (d.begin == d.end) return false;
  } else if (!codec::next_diff(there, here, m.size, 0, join_gap, d)) {
    return false;
  }
  if (d.begin <= join_head) {
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

// Called under the window. Returns false if a member changed since it was read, or if it would not
// change at all.
bool short_commit::find_pieces() noexcept {
  const pool::optimistic_reads mark;
  if (s_.medium->failed()) return false;  // WIN-5
  for (const tx::small_member& m : members_)
    if (has_changed(m) || !cut(m)) return false;
  return true;
}

// Like window::write_data(), for pieces that have no column in common.
void short_commit::write_data() noexcept {
  uint64_t i = 0;
  medium::tally writes{};
  for (const pool::piece& p : l_.pieces) {
    SCUTE_ASSERT(p.offset % pool::column_block + p.length <= pool::column_block &&
                 now_.has(p.stripe));
    l_.progress.begin(i);
    if (p.old == nullptr) {
      std::byte* const data = base_ + p.offset;
      l_.w.encode({data, data, p.src, base_ + p.parity, p.delta, p.next, p.length},
                  &l_.progress.done);
      writes.add(p.why, p.offset, p.length);
    } else {
      codec::xor_delta(p.delta, p.old, p.src, p.length);
      codec::xor_delta(p.next, base_ + p.parity, p.delta, p.length);
    }
    if (parities_ != 1) {
      l_.progress.begin(i, p.length);
      for (uint32_t k = 1; k < parities_; ++k) add_delta(s_, p, k, p.next + k * uint64_t{p.length});
    }
    ++i;
  }
  writes_ = writes;
}

void short_commit::write_parity() noexcept {
  uint64_t i = 0;
  medium::tally writes = writes_;
  for (const pool::piece& p : l_.pieces)
    for (uint32_t k = 0; k < parities_; ++k) {
      const uint64_t at = p.parity + k * row_size_;
      std::byte* next = p.next + k * uint64_t{p.length};
      l_.progress.begin(i++);
      l_.w.put(base_ + at, next, p.length, &l_.progress.done);
      now_.parity.push_back({at, p.length});
      writes.add(medium::purpose::parity, at, p.length);
    }
  l_.progress.begin(i);
  writes_ = writes;
}

[[gnu::flatten]] bool short_commit::run(tx::slot_reclaimer* freed) {
  using medium::cost_part;
  using medium::cost_step;
  if (s_.resolving->pending() || s_.plain_encoding || s_.medium->failed()) return false;
  cost_step(cost_part::plan);
  window w(s_, l_);
  w.planned();
  if (!plan() || !reserve()) return leave_alone();
  require_columns();
  if (!in_place_.empty() &&
      (reservation_.acquire(l_) != column_reservation::outcome::reserved || !gather()))
    return leave_alone();
  cost_step(cost_part::seal);
  seal();
  cost_step(cost_part::plan);
  w.take_back();
  if (!w.enter())
    return leave_alone();  // in-place ranges hold columns, and others were not available
  {
    const pool::in_flight_scope here(s_, l_, pool::in_flight_write::phase::reading);
    if (find_pieces()) {
      cost_step(cost_part::data);
      w.go_to<window::point::open>(window::point::data);
      pool::enter_phase(pool::in_flight_write::phase::data);
      write_data();
    }
  }
  if (l_.point != window::point::data) {
    w.give_up();
    return leave_alone();
  }
  cost_step(cost_part::fence);
  l_.w.fence(fence_site::window_short);
  cost_step(cost_part::end);
  ++l_.sequence;
  w.release_last();
  const bool failed = s_.medium->failed();
  if (!failed) {
    if (freed != nullptr) freed->give_back();
    store_parity(w);
    for (const tx::inplace_range& r : in_place_) pool::end_in_place(s_, r.offset, r.length);
  }
  if (!in_place_.empty()) reservation_.end(l_);
  l_.w.count_writes(writes_);
  l_.w.count.shorts.add(1);
  if (failed) {
    w.leave();
    s_.require_healthy();
    return true;
  }
  w.defer();
  s_.watch.deferred();
  return true;
}

// The general way gets the transaction, unchanged.
bool short_commit::leave_alone() noexcept {
  now_.clear();
  if (!in_place_.empty()) reservation_.release(l_);
  return false;
}

// The parity phase, which follows the fence.
void short_commit::store_parity(window& w) noexcept {
  medium::cost_step(medium::cost_part::parity);
  w.go_to<window::point::data>(window::point::parity);
  const pool::in_flight_scope here(s_, l_, pool::in_flight_write::phase::parity);
  write_parity();
  medium::cost_step(medium::cost_part::end);
}

}  // namespace scute::core::engine
