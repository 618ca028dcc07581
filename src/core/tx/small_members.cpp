// SPDX-License-Identifier: BSD-3-Clause
// Objects of one fragment, open as a whole: the short way through a transaction
// (core/tx/engine.hpp, small_member).
#include <algorithm>
#include <cstring>

#include "base/locks/waiting.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/pool/library_call.hpp"
#include "core/shared/resolver.hpp"
#include "core/tx/transaction.hpp"

namespace scute::core::tx {

// For the object that add() has entered last, which lies at c. Returns null if the transaction has
// to go the general way.
small_member* transaction::add_small(const heap::object& o, const pool::cell& c,
                                     small_member::change what) noexcept {
  if ((!s_.takes_small && what != small_member::change::freed) || small_count_ + 1 != count_ ||
      count_ > small_members_max || c.column + format::header_size + o.room > s_.geo.row_size)
    return nullptr;
  small_member& m = smalls_[small_count_++];
  m.header = o.header;
  m.zone = c.zone;
  m.column = c.column;
  m.stripe = pool::stripes::index(c.zone, c.column / pool::column_block);
  m.parity = pool::parity_offset(s_.geo, c.zone, c.column);
  m.room = static_cast<uint32_t>(o.room);
  m.generation = o.chunk->generation.load(std::memory_order_relaxed);
  m.what = what;
  return &m;
}

namespace {

// Copies blocks of constant size, which may overlap, if possible: the usual sizes need no loop.
void copy_payload(std::byte* to, const std::byte* from, uint64_t n) noexcept {
  if (n >= 32 && n <= 128) {
    for (uint64_t i = 0; i + 32 < n; i += 32) std::memcpy(to + i, from + i, 32);
    std::memcpy(to + n - 32, from + n - 32, 32);
  } else {
    std::memcpy(to, from, n);
  }
}

}  // namespace

// Whether the transaction has a buffer for the object.
bool transaction::knows(uint64_t payload) noexcept {
  if (small_count_ != count_) return find(payload) != nullptr;
  for (size_t i = 0; i < count_; ++i)
    if (smalls_[i].header + format::header_size == payload) return true;
  return false;
}

// Prefetches the lines that opening and committing a small object need, except the first.
void transaction::fetch_ahead(const heap::object& o, const pool::cell& c) const noexcept {
  const std::byte* there = s_.at(o.header);
  const uint64_t lines = std::min<uint64_t>(o.room + 32, parity_ahead);
  for (uint64_t i = 64; i < lines; i += 64) __builtin_prefetch(there + i, 1);
  for (uint32_t p = 0; p < s_.geo.parity; ++p) {
    const std::byte* parity = s_.at(pool::parity_offset(s_.geo, c.zone, c.column, p));
    for (uint64_t i = 0; i < lines; i += 64) __builtin_prefetch(parity + i, 1);
  }
  if (s_.parity_is_log)
    s_.locks.prefetch(pool::stripes::index(c.zone, c.column / pool::column_block));
}

void transaction::prefetch(uint64_t oid) const noexcept {
  const uint64_t payload = oid ^ s_.oid_tag;
  heap::object o;
  if (payload >> 48 != 0 || !heap_.zones().locate_small(payload, o)) return;
  __builtin_prefetch(s_.at(o.header), 1);
  fetch_ahead(o, pool::cell_of(s_.geo, o.header));
}

// Opens an object of one fragment that is new to the transaction, whole. Its checksum is tested on
// the copy (TX-2). Returns null if anything is unusual: then enter_filled() finds out what is
// wrong, and reports it.
[[gnu::flatten]] micro_buffer* transaction::open_small(uint64_t oid, uint64_t room_max) {
  const uint64_t payload = oid ^ s_.oid_tag;  // of another pool if that leaves any of its tag
  heap::object o;
  if (!s_.has_checksums || s_.resolving->pending() || payload >> 48 != 0 || count_ >= linear_max ||
      knows(payload) || !heap_.zones().locate_small(payload, o) || o.room > room_max)
    return nullptr;
  const std::byte* there = s_.at(o.header);
  const pool::cell c = pool::cell_of(s_.geo, o.header);
  fetch_ahead(o, c);
  const uint64_t losses = pool::losses_of_this_thread;
  const pool::optimistic_reads mark;
  format::fragment_header h;
  std::memcpy(&h, there, sizeof h);
  const uint64_t size = format::meta_size(h.meta);
  if (size - 1 >= o.room ||
      h.meta != format::make_meta(size, format::role::live, o.chunk->generation) ||
      (h.next != o.header && !s_.geo.in_data(h.next, sizeof h)))
    return nullptr;
  std::byte* bytes = arena_.take(size, format::header_size);
  copy_payload(bytes, there + format::header_size, size);
  switch_point();
  if (s_.overlaid.touches(payload, o.room) || pool::losses_of_this_thread != losses ||
      h.checksum !=
          pool::header_checksum(s_.checksum, o.header, h, bytes, static_cast<uint32_t>(size)))
    return nullptr;
  micro_buffer& b = add(o);
  b.size = size;
  b.type = h.type;
  b.bytes = bytes;
  b.origins.note(0, h.tag);
  b.open.become(0, size);
  b.known.become(0, size);
  if (small_member* m = add_small(o, c, small_member::change::contents)) {
    m->image = bytes - format::header_size;
    m->read = h;
    m->size = static_cast<uint32_t>(size);
    m->type = h.type;
  }
  lane_.w.count.verified_bytes.add(size);
  return &b;
}

// The same if no checksum can show whether a copy is the object's. Copies only these bytes, or all
// if length is UINT64_MAX. Others may change the rest of the object meanwhile (CONFLICT-4), so it
// is copied when it is requested.
[[gnu::flatten]] micro_buffer* transaction::open_unchecked(uint64_t oid, uint64_t offset,
                                                           uint64_t length) {
  const uint64_t payload = oid ^ s_.oid_tag;
  heap::object o;
  if (!s_.takes_small || s_.resolving->pending() || payload >> 48 != 0 || count_ >= linear_max ||
      knows(payload) || !heap_.zones().locate_small(payload, o))
    return nullptr;
  const pool::cell c = pool::cell_of(s_.geo, o.header);
  __builtin_prefetch(s_.at(o.header), 1);
  if (length == UINT64_MAX) fetch_ahead(o, c);
  const uint64_t losses = pool::losses_of_this_thread;
  const pool::optimistic_reads mark;
  const uint64_t revision = s_.overlaid.revision(payload, o.room);
  format::fragment_header h;
  std::memcpy(&h, s_.at(o.header), sizeof h);
  const uint64_t size = format::meta_size(h.meta);
  if (length == UINT64_MAX) length = size;
  if (size - 1 >= o.room || length == 0 || offset > size || length > size - offset ||
      h.meta != format::make_meta(size, format::role::live, o.chunk->generation) ||
      h.checksum != pool::header_checksum(codec::checksum_kind::crc32c, o.header, h, nullptr, 0))
    return nullptr;
  std::byte* bytes = arena_.take(size, format::header_size);
  copy_payload(bytes + offset, s_.at(payload + offset), length);
  switch_point();
  if (!is_untouched(o, revision) || pool::losses_of_this_thread != losses) return nullptr;
  micro_buffer& b = add(o);
  b.size = size;
  b.type = h.type;
  b.bytes = bytes;
  b.origins.note(0, h.tag);
  b.open.become(offset, offset + length);
  b.known.become(offset, offset + length);
  if (small_member* m = add_small(o, c, small_member::change::contents)) {
    m->image = bytes - format::header_size;
    m->read = h;
    m->size = static_cast<uint32_t>(size);
    m->type = h.type;
  }
  return &b;
}

// Whether no part of it is open in place, nor was since `revision`.
bool transaction::is_untouched(const heap::object& o, uint64_t revision) const noexcept {
  return !s_.overlaid.touches(o.payload, o.room) &&
         s_.overlaid.revision(o.payload, o.room) == revision;
}

// Copies more of such an object. If false, the general way has to find out.
bool transaction::copy_unchecked(const micro_buffer& b, uint64_t begin, uint64_t end) noexcept {
  if (s_.has_checksums || b.front() != format::header_size || s_.resolving->pending()) return false;
  const uint64_t losses = pool::losses_of_this_thread;
  const pool::optimistic_reads mark;
  const uint64_t revision = s_.overlaid.revision(b.where.payload, b.where.room);
  copy_payload(b.bytes + begin, s_.at(b.where.payload + begin), end - begin);
  switch_point();
  return is_untouched(b.where, revision) && pool::losses_of_this_thread == losses;
}

namespace {

// Ranges of one object that go the short way. More than one commit takes do no harm.
constexpr size_t in_place_ranges = 8;

}  // namespace

// Enters an object of one fragment, new to the transaction, for ranges in place. Its header is read
// without a lock: the engine compares it when it has the columns. Returns null if it has to go the
// general way.
small_member* transaction::open_in_place(uint64_t oid) {
  const uint64_t payload = oid ^ s_.oid_tag;
  heap::object o;
  if (!s_.takes_in_place || s_.read_only || s_.resolving->pending() || payload >> 48 != 0 ||
      count_ >= small_members_max || small_count_ != count_ ||
      !heap_.zones().locate_small(payload, o))
    return nullptr;
  const pool::cell c = pool::cell_of(s_.geo, o.header);
  pool::prefetch_data(s_, o.header, std::min<uint64_t>(o.room + 32, data_ahead));
  for (uint32_t p = 0; p < s_.geo.parity; ++p)
    __builtin_prefetch(s_.at(pool::parity_offset(s_.geo, c.zone, c.column, p)), 1);
  format::fragment_header h;
  {
    const pool::optimistic_reads mark;
    std::memcpy(&h, s_.at(o.header), sizeof h);
  }
  const uint64_t size = format::meta_size(h.meta);
  if (size - 1 >= o.room ||
      h.meta != format::make_meta(size, format::role::live, o.chunk->generation))
    return nullptr;
  std::byte* bytes = arena_.take(size, format::header_size);
  micro_buffer& b = add(o);
  b.size = size;
  b.type = h.type;
  b.bytes = bytes;
  b.origins.note(0, h.tag);
  small_member* m = add_small(o, c, small_member::change::in_place);
  if (m == nullptr) {
    drop_last();
    return nullptr;
  }
  m->image = bytes - format::header_size;
  m->read = h;
  m->size = static_cast<uint32_t>(size);
  m->type = h.type;
  return m;
}

// Opens a range in place of an object of one fragment that has only such ranges. Returns null if it
// has to go the general way, or if there is an error to report.
void* transaction::in_place_small(uint64_t oid, uint64_t offset, uint64_t length) {
  using change = small_member::change;
  using member_state = engine::member_state;
  if (small_count_ != count_ || saved_.size() >= in_place_ranges) return nullptr;
  const uint64_t payload = oid ^ s_.oid_tag;
  small_member* m = nullptr;
  size_t i = 0;
  while (i < count_ && smalls_[i].header + format::header_size != payload) ++i;
  const member_state known = i == count_ ? member_state::opened : member_state::known;
  if (known == member_state::known && smalls_[i].what != change::in_place) return nullptr;
  saved_.reserve(in_place_ranges);
  m = known == member_state::known ? &smalls_[i] : open_in_place(oid);
  if (m == nullptr) return nullptr;
  micro_buffer& b = *buffers_[i];
  bool done = false;
  try {
    if (length != 0 && offset <= b.size && length <= b.size - offset &&
        !b.in_place_set.overlaps(offset, offset + length)) {
      std::byte* old = arena_.scratch(length);
      const inplace_range r{payload + offset, length, old};
      b.in_place.reserve(in_place_ranges);
      range_set merged = b.in_place_set;
      merged.add(offset, offset + length, [](uint64_t, uint64_t) {});
      done = engine_->save_short(lane_, *m, known, r, old);
      if (done) {
        b.in_place.push_back(r);
        saved_.push_back(r);
        b.in_place_set = std::move(merged);
      }
    }
  } catch (...) {
    if (known == member_state::opened) drop_last();
    throw;
  }
  if (!done) {
    if (known == member_state::opened) drop_last();
    return nullptr;
  }
  return s_.at(payload + offset);
}

// A transaction of only a few small objects: everything that sealing needs is known.
bool transaction::commit_short() {
  if (small_count_ != count_ || count_ == 0 || anchor_at_ != 0 || s_.read_only) return false;
  uint64_t allocs = 0, frees = 0;
  for (size_t i = 0; i < count_; ++i) {
    small_member& m = smalls_[i];
    if (!s_.has_checksums && m.what == small_member::change::contents) {
      const micro_buffer& b = *buffers_[i];
      if (b.expected != nullptr) return false;
      m.open = {b.open.begin(), b.open.end()};
    }
    allocs += m.what == small_member::change::fresh ? 1 : 0;
    frees += m.what == small_member::change::freed ? 1 : 0;
    arena::open_front(m.image + format::header_size, format::header_size);
  }
  if (allocs != 0 && heap_.zones().any_pending()) return false;  // PEND-1
  if (!engine_->commit_short(lane_, {smalls_, count_}, saved_, frees == 0 ? nullptr : this))
    return false;
  lane_.w.count.transactions.add(1);
  if (allocs != 0) lane_.w.count.allocs.add(allocs);
  if (frees != 0) {
    lane_.w.count.frees.add(frees);
    give_back();
  }
  return true;
}

}  // namespace scute::core::tx
