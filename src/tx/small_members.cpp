// SPDX-License-Identifier: BSD-3-Clause
// Objects of one fragment, open as a whole: the short way through a transaction (tx/engine.hpp, small_member).
#include <algorithm>
#include <cstring>

#include "base/planted.hpp"
#include "base/waiting.hpp"
#include "pool/columns.hpp"
#include "pool/library_call.hpp"
#include "pool/optimistic.hpp"
#include "pool/resolver.hpp"
#include "tx/transaction.hpp"

namespace scute::core::tx {

// Of the object that add() has entered last, which lies at c. Null if the transaction has to go the general way.
small_member* transaction::add_small(const heap::object& o, const pool::cell& c,
                                     small_member::change what) noexcept {
  if ((!s_.parity_is_log && what != small_member::change::freed) || small_count_ + 1 != count_ ||
      count_ > small_members_max || c.column + format::header_size + o.room > s_.geo.row_size)
    return nullptr;
  small_member& m = smalls_[small_count_++];
  m.header = o.header;
  m.zone = c.zone;
  m.column = c.column;
  m.parity = pool::parity_offset(s_.geo, c.zone, c.column);
  m.room = static_cast<uint32_t>(o.room);
  m.generation = o.chunk->generation.load(std::memory_order_relaxed);
  m.what = what;
  return &m;
}

namespace {

// As two blocks of constant size, which may overlap, where that will do: the usual sizes need no loop.
void copy_payload(std::byte* to, const std::byte* from, uint64_t n) noexcept {
  if (n >= 32 && n <= 128) {
    for (uint64_t i = 0; i + 32 < n; i += 32) std::memcpy(to + i, from + i, 32);
    std::memcpy(to + n - 32, from + n - 32, 32);
  } else {
    std::memcpy(to, from, n);
  }
}

}  // namespace

// It has a buffer for the object.
bool transaction::knows(uint64_t payload) noexcept {
  if (small_count_ != count_) return find(payload) != nullptr;
  for (size_t i = 0; i < count_; ++i)
    if (smalls_[i].header + format::header_size == payload) return true;
  return false;
}

// An object of one fragment that is new to the transaction, whole; the copy is what its checksum is tested on (TX-2).
// Null if anything is unusual about it: what is wrong is for enter_filled() to find out and to tell.
[[gnu::flatten]] micro_buffer* transaction::open_small(uint64_t oid, uint64_t room_max) {
  const uint64_t payload = oid ^ s_.oid_tag;  // of another pool if that leaves any of its tag
  heap::object o;
  if (!s_.has_checksums || s_.resolving->pending() || payload >> 48 != 0 || count_ >= linear_max ||
      SCUTE_PLANTED(verify_open) || knows(payload) || !heap_.zones().locate_small(payload, o) ||
      o.room > room_max)
    return nullptr;
  const std::byte* there = s_.at(o.header);
  const pool::cell c = pool::cell_of(s_.geo, o.header);
  const uint64_t lines = std::min<uint64_t>(o.room + 32, parity_ahead);
  for (uint64_t i = 64; i < lines; i += 64) __builtin_prefetch(there + i, 1);
  for (uint32_t p = 0; p < s_.geo.parity; ++p) {
    const std::byte* parity = s_.at(pool::parity_offset(s_.geo, c.zone, c.column, p));
    for (uint64_t i = 0; i < lines; i += 64) __builtin_prefetch(parity + i, 1);
  }
  if (s_.parity_is_log)
    s_.locks.prefetch(pool::stripes::index(c.zone, c.column / pool::column_block));
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

// Nothing but a few small objects: all that sealing needs is known.
bool transaction::commit_short() {
  if (small_count_ != count_ || count_ == 0 || anchor_at_ != 0 || s_.read_only ||
      SCUTE_PLANTED(seal_checksum) || SCUTE_PLANTED(free_early))
    return false;
  uint64_t allocs = 0, frees = 0;
  for (size_t i = 0; i < count_; ++i) {
    const small_member& m = smalls_[i];
    allocs += m.what == small_member::change::fresh ? 1 : 0;
    frees += m.what == small_member::change::freed ? 1 : 0;
    arena::open_front(m.image + format::header_size, format::header_size);
  }
  if (!engine_.commit_short(lane_, {smalls_, count_}, frees == 0 ? nullptr : this)) return false;
  lane_.w.count.transactions.add(1);
  if (allocs != 0) lane_.w.count.allocs.add(allocs);
  if (frees != 0) {
    lane_.w.count.frees.add(frees);
    give_back();
  }
  return true;
}

}  // namespace scute::core::tx
