// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/transaction.hpp"

#include <cstring>
#include <utility>

#include "core/shared/parity/columns.hpp"
#include "core/tx/conflict.hpp"
#include "core/tx/object_lock_guard.hpp"
#include "core/tx/verify.hpp"

namespace scute::core::tx {
namespace {

constexpr uint64_t in_place_max = uint64_t{1} << 30;

}  // namespace

// The smallest pool is larger than the number that is subtracted below.
static_assert(SCUTE_SIZE_MIN > SCUTE_DIRECT_MAX);

void transaction::begin() {
  // The transaction before has ended, and has left nothing in the lane, unless its abort met a
  // failed medium.
  SCUTE_ASSERT(count_ == 0 && lane_.object_locks.empty());
  SCUTE_ASSERT(
      (lane_.reservation.load(std::memory_order_relaxed) == 0 && lane_.reserved.stripes.empty()) ||
      s_.medium->failed());
  ++lane_.transaction;
  doomed = false;
  reads = {s_.verify_on_read ? 0 : (s_.geo.file_size - SCUTE_DIRECT_MAX) / 32, 0};
}

// Engine redo writes an object piece by piece. In the other engine a window covers only a part of
// larger objects (core/shared/object_locks.hpp, OBJLOCK-2).
bool transaction::needs_object_lock(const micro_buffer& b) const noexcept {
  return !s_.parity_is_log || b.size > format::fragment_payload;
}

// For an object that is locked: tests changes that the fragments being written may not show.
void transaction::require_same(const micro_buffer& b) {
  if (s_.has_checksums && b.size <= format::fragment_payload) return;
  const auto same = [&](const format::fragment_header& h) {
    if (!s_.has_checksums) return h.tag == b.origins.of(0);
    return (format::meta_size(h.meta) == b.size && h.type == b.type) || b.is_version(h);
  };
  // A header that differs may be a damaged one.
  if (!same(live_header_unverified(s_, &lane_, b.where)) && !same(live_header(s_, &lane_, b.where)))
    refuse_change(s_, b.where.header);
}

// ---- finding objects ----------------------------------------------------------------------------

micro_buffer* transaction::find(uint64_t payload) noexcept {
  if (index_.empty()) {
    for (size_t i = count_; i-- != 0;)
      if (buffers_[i]->where.payload == payload) return buffers_[i].get();
    return nullptr;
  }
  const size_t mask = index_.size() - 1;
  for (size_t i = (payload >> 5) * 0x9e3779b97f4a7c15u >> 20 & mask;; i = (i + 1) & mask) {
    if (index_[i] == 0) return nullptr;
    micro_buffer& b = *buffers_[index_[i] - 1];
    if (b.where.payload == payload) return &b;
  }
}

micro_buffer& transaction::add(const heap::object& o) {
  if (count_ == buffers_.size() || count_ >= linear_max) [[unlikely]]
    make_room();
  reads = {0, reads.touched | SCUTE_TOUCHED_BIT(s_.oid_of(o.payload))};
  micro_buffer& b = *buffers_[count_++];
  b.reset();
  b.where = o;
  if (!index_.empty()) [[unlikely]]
    enter_index(count_ - 1);
  return b;
}

void transaction::enter_index(size_t n) noexcept {
  const size_t mask = index_.size() - 1;
  size_t i = (buffers_[n]->where.payload >> 5) * 0x9e3779b97f4a7c15u >> 20 & mask;
  while (index_[i] != 0) i = (i + 1) & mask;
  index_[i] = static_cast<uint32_t>(n + 1);
}

// Makes room for another buffer, and for its entry in the index, if there has to be one.
void transaction::make_room() {
  if (buffers_.size() == count_) buffers_.push_back(std::make_unique<micro_buffer>());
  if (count_ + 1 <= linear_max || (count_ + 1) * 2 <= index_.size()) return;
  std::vector<uint32_t> larger(index_.empty() ? 64 : index_.size() * 2);
  index_ = std::move(larger);
  for (size_t i = 0; i < count_; ++i) enter_index(i);
}

// Takes back the last add(), with its entry in the index: otherwise many of them would fill it.
// Nothing was entered since, so no other entry was put after this one.
void transaction::drop_last() noexcept {
  micro_buffer& b = *buffers_[count_ - 1];
  if (small_count_ == count_) --small_count_;
  if (!index_.empty()) {
    const size_t mask = index_.size() - 1;
    size_t i = (b.where.payload >> 5) * 0x9e3779b97f4a7c15u >> 20 & mask;
    while (index_[i] != count_) i = (i + 1) & mask;
    index_[i] = 0;
  }
  --count_;
  b.where = {};
}

// The buffer of a live object, which is entered if it is new to the transaction.
micro_buffer& transaction::enter(uint64_t oid, verification how) {
  const uint64_t payload = payload_of(s_, oid);
  if (micro_buffer* b = find(payload)) {
    if (b->freed) throw failure(SCUTE_E_FREED, "the object was freed earlier in this transaction");
    return *b;
  }
  const heap::object o = heap_.zones().locate(payload);
  // The object and its parity are about to be read, and most likely written. The parity of a larger
  // object is prefetched when the object has been copied: see fill().
  pool::prefetch_data(s_, o.header, std::min<uint64_t>(o.room + 32, data_ahead));
  pool::prefetch_parity(s_, o.header, std::min<uint64_t>(o.room + 32, parity_ahead));
  const format::fragment_header h = how == verification::to_free ? header_to_free(s_, &lane_, o)
                                    : how == verification::now
                                        ? live_header(s_, &lane_, o)
                                        : live_header_unverified(s_, &lane_, o);
  micro_buffer& b = add(o);
  b.size = format::meta_size(h.meta);
  b.type = h.type;
  if (how == verification::to_free) b.head = h;
  // The copy below notes the version itself.
  if (how != verification::with_copy) b.origins.note(0, h.tag);
  return b;
}

void transaction::materialise(micro_buffer& b) {
  if (b.bytes == nullptr) b.bytes = arena_.take(b.size, b.front());
}

// The buffer of a live object with [offset, offset + length) copied to it; length UINT64_MAX: all.
micro_buffer& transaction::enter_filled(uint64_t oid, uint64_t offset, uint64_t length) {
  if (micro_buffer* b = find(payload_of(s_, oid)); b != nullptr && !b->freed) {
    if (length != UINT64_MAX) check_range(b->size, offset, length);
    if (b->in_place.empty()) fill(*b, offset, length == UINT64_MAX ? b->size : offset + length);
    return *b;
  }
  // TX-2: the first fragment is verified with its copy, if it is copied at all. If it turns out to
  // be damaged, its header, which said how much to copy, may have been damaged too.
  for (bool trust = s_.has_checksums && offset < format::fragment_payload;; trust = false) {
    micro_buffer& b = enter(oid, trust ? verification::with_copy : verification::now);
    const uint64_t size = b.size;
    const uint32_t type = b.type;
    try {
      if (!trust || length == UINT64_MAX || (offset <= size && length <= size - offset)) {
        if (length != UINT64_MAX) check_range(b.size, offset, length);
        fill(b, offset, length == UINT64_MAX ? size : offset + length);
        format::fragment_header h;
        std::memcpy(&h, s_.at(b.where.header), sizeof h);
        if (!trust || (format::meta_size(h.meta) == size && h.type == type)) return b;
      }
    } catch (const failure& e) {
      drop_last();  // not verified, so nothing may be built on its size
      if (!trust || e.code() != SCUTE_E_FREED) throw;
      continue;  // VERIFY-3
    } catch (...) {
      drop_last();
      throw;
    }
    drop_last();
  }
}

// Copies [begin, end) to the buffer and verifies the fragments concerned.
void transaction::fill(micro_buffer& b, uint64_t begin, uint64_t end) {
  materialise(b);
  if (end - begin > parity_ahead)
    pool::prefetch_parity(s_, b.where.payload + begin, std::min(end - begin, parity_later));
  b.known.add(begin, end, [&](uint64_t from, uint64_t to) {
    arena_.touch(b.bytes, from, to);
    if (!copy_unchecked(b, from, to))
      copy_verified(s_, &lane_, b.where, b.size, from, to, b.bytes + from, &b.origins);
  });
}

void transaction::check_range(uint64_t size, uint64_t offset, uint64_t length) const {
  if (length == 0) throw failure(SCUTE_E_INVALID, "the range has zero bytes");
  if (offset > size || length > size - offset)
    throw failure(SCUTE_E_RANGE, "the range [" + std::to_string(offset) + ", " +
                                     std::to_string(offset) + " + " + std::to_string(length) +
                                     ") reaches beyond the object's " + std::to_string(size) +
                                     " bytes");
}

// ---- the calls ----------------------------------------------------------------------------------

// Uses the chunks that a log has borrowed, if there is no other room.
heap::object transaction::reserve(uint64_t size) {
  try {
    return heap_.reserve(lane_, size);
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_NOSPC || !engine_->give_back_log(lane_)) throw;
  }
  return heap_.reserve(lane_, size);
}

uint64_t transaction::alloc(uint64_t size, uint32_t type, void** bytes) {
  const medium::cost_scope as(medium::cost_part::allocate);
  if (size == 0) throw failure(SCUTE_E_INVALID, "an object needs at least one byte");
  if (type >= format::type_zone)
    throw failure(SCUTE_E_INVALID, "type numbers from 0xffffff01 on are reserved");
  s_.require_healthy();
  const heap::object o = reserve(size);
  pool::prefetch_data(s_, o.header, std::min<uint64_t>(o.room + 32, data_ahead));
  pool::prefetch_parity(s_, o.header, std::min<uint64_t>(o.room + 32, parity_ahead));
  try {
    micro_buffer& b = add(o);
    b.size = size;
    b.type = type;
    b.fresh = true;
    try {
      materialise(b);
      b.open.add(0, size, [](uint64_t, uint64_t) {});
      b.known.add(0, size, [](uint64_t, uint64_t) {});
    } catch (...) {
      drop_last();
      throw;
    }
    arena_.touch(b.bytes, 0, size);
    std::memset(b.bytes, 0, size);
    if (bytes != nullptr) *bytes = b.bytes;
    if (b.front() == format::header_size) {
      if (small_member* m =
              add_small(o, pool::cell_of(s_.geo, o.header), small_member::change::fresh)) {
        m->image = b.header_room(0);
        m->size = static_cast<uint32_t>(size);
        m->type = type;
      }
    }
  } catch (...) {
    heap_.release(o);
    throw;
  }
  return s_.oid_of(o.payload);
}

void transaction::free(uint64_t oid) {
  const medium::cost_scope as(medium::cost_part::open);
  micro_buffer& b = enter(oid, verification::to_free);
  if (s_.foreign &&
      b.where.header == s_.foreign->span_offset(s_.geo, pool::zone_of(s_.geo, b.where.header)))
    throw failure(SCUTE_E_INVALID, "the object stands for the file that " + s_.path +
                                       " protects; it cannot be freed");
  if (!b.in_place.empty())
    throw failure(SCUTE_E_INVALID,
                  "the object has in-place ranges in this transaction; free it in a later one");
  // It may have been damaged since it was opened.
  if (!b.fresh && b.head.meta == 0) b.head = header_to_free(s_, &lane_, b.where);
  heap_.prepare_free(b.where);
  if (b.bytes == nullptr) b.bytes = arena_.scratch(b.front()) + b.front();
  b.span = b.where.is_span();
  if (b.open.empty() && !b.fresh && !b.span && b.front() == format::header_size &&
      &b == buffers_[count_ - 1].get()) {
    if (small_member* m = add_small(b.where, pool::cell_of(s_.geo, b.where.header),
                                    small_member::change::freed)) {
      m->image = b.header_room(0);
      m->read = b.head;
    }
  } else {
    small_count_ = SIZE_MAX;  // the general way
  }
  b.freed = true;
}

void* transaction::open(uint64_t oid) {
  const medium::cost_scope as(medium::cost_part::open);
  if (const micro_buffer* b = s_.has_checksums ? open_small(oid, format::fragment_payload)
                                               : open_unchecked(oid, 0, UINT64_MAX))
    return b->bytes;
  micro_buffer& b = enter_filled(oid, 0, UINT64_MAX);
  if (!b.in_place.empty())
    throw failure(SCUTE_E_INVALID,
                  "the object has in-place ranges in this transaction; continue with "
                  "scute_tx_inplace, or open it before");
  b.open.add(0, b.size, [](uint64_t, uint64_t) {});
  b.by_ranges = false;
  return b.bytes;
}

void* transaction::add_range(uint64_t oid, uint64_t offset, uint64_t length) {
  const medium::cost_scope as(medium::cost_part::open);
  if (length == 0) throw failure(SCUTE_E_INVALID, "the range has zero bytes");
  if (!s_.has_checksums) {
    if (const micro_buffer* b = open_unchecked(oid, offset, length)) return b->bytes + offset;
  } else if (micro_buffer* whole = open_small(oid, whole_max)) {
    try {
      check_range(whole->size, offset, length);
    } catch (...) {
      drop_last();
      throw;
    }
    whole->by_ranges = true;
    whole->asked.become(offset, offset + length);
    return whole->bytes + offset;
  }
  micro_buffer& b = length == UINT64_MAX ? enter(oid) : enter_filled(oid, offset, length);
  check_range(b.size, offset, length);
  if (!b.in_place.empty())
    small_count_ = SIZE_MAX;  // two kinds of ranges in one object: the general way
  if (b.in_place_set.overlaps(offset, offset + length)) {
    if (b.in_place_set.contains(offset, offset + length)) return s_.at(b.where.payload + offset);
    throw failure(SCUTE_E_INVALID,
                  "the range is partly open in place; add the whole with "
                  "scute_tx_inplace, or add it before");
  }
  fill(b, offset, offset + length);
  b.open.add(offset, offset + length, [](uint64_t, uint64_t) {});
  if (b.by_ranges) b.asked.add(offset, offset + length, [](uint64_t, uint64_t) {});
  return b.bytes + offset;
}

// For a small object that was opened for ranges: from now on only these are open, and the
// transaction goes the general way.
void transaction::narrow(micro_buffer& b) {
  if (!b.by_ranges) return;
  b.open = b.asked;
  b.by_ranges = false;
  small_count_ = SIZE_MAX;
}

void* transaction::in_place(uint64_t oid, uint64_t offset, uint64_t length) {
  if (void* at = in_place_small(oid, offset, length)) return at;
  if (s_.read_only) throw failure(SCUTE_E_READONLY, s_.path + " was opened read-only");
  micro_buffer& b = enter(oid);
  check_range(b.size, offset, length);
  if (length > in_place_max) throw failure(SCUTE_E_RANGE, "an in-place range has at most 1 GiB");
  if (s_.overlaid.touches_lent(b.where.payload + offset, length))
    throw failure(SCUTE_E_CORRUPT, s_.path +
                                       ": an object lies in a chunk that belongs to a log; restore "
                                       "the pool from a backup");
  const uint64_t end = offset + length;
  if (!b.opened().overlaps(offset, end)) narrow(b);
  if (b.fresh || b.open.overlaps(offset, end)) return add_range(oid, offset, length);
  if (!b.in_place_set.contains(offset, end)) {
    if (!b.open.empty()) small_count_ = SIZE_MAX;  // as in add_range()
    // Each part that is new to the set is saved on its own. Parts that were saved stay saved.
    std::vector<byte_range> fresh;
    range_set merged = b.in_place_set;
    merged.add(offset, end, [&](uint64_t from, uint64_t to) { fresh.push_back({from, to}); });
    materialise(b);  // its header room will hold the new headers
    for (const byte_range& r : fresh) {
      std::byte* old = arena_.scratch(r.end - r.begin);
      object_lock_guard mine(s_, lane_);
      if (needs_object_lock(b)) mine.add(b.where.payload);
      mine.take();
      require_same(b);
      copy_verified(s_, &lane_, b.where, b.size, r.begin, r.end, old, &b.origins);
      b.in_place.reserve(b.in_place.size() + 1);
      saved_.reserve(saved_.size() + 1);
      const inplace_range saved{b.where.payload + r.begin, r.end - r.begin, old};
      std::vector<member> fragments;
      for (uint64_t i = r.begin / format::fragment_payload; i * format::fragment_payload < r.end;
           ++i)
        fragments.push_back({b.where.fragment(i), nullptr,
                             static_cast<uint32_t>(b.fragment_size(i)), b.fragment_size(i), false,
                             b.origins.of(i)});
      engine_->save(lane_, saved, fragments);
      b.in_place.push_back(saved);
      saved_.push_back(saved);
      b.in_place_set.add(r.begin, r.end, [](uint64_t, uint64_t) {});
    }
  }
  return s_.at(b.where.payload + offset);
}

const void* transaction::get(uint64_t oid) {
  const uint64_t payload = payload_of(s_, oid);
  micro_buffer* b = find(payload);
  if (b == nullptr) {
    const heap::object o = heap_.zones().locate(payload);
    const first_fragment first = first_of_read(s_, 0);
    with_size(s_, &lane_, o, first, [&](uint64_t size) {
      if (s_.verify_on_read) hand_out(s_, &lane_, o, size, 0, size, first);
    });
    return s_.at(payload);
  }
  if (b->freed) throw failure(SCUTE_E_FREED, "the object was freed earlier in this transaction");
  if (b->open.empty()) {
    if (s_.verify_on_read)
      hand_out(s_, &lane_, b->where, b->size, 0, b->size, first_fragment::known);
    return s_.at(payload);
  }
  if (!b->in_place.empty())
    throw failure(SCUTE_E_INVALID,
                  "the object is open both in place and in a micro-buffer; read "
                  "ranges of it with scute_tx_get_range");
  fill(*b, 0, b->size);
  return b->bytes;
}

const void* transaction::get_range(uint64_t oid, uint64_t offset, uint64_t length) {
  const uint64_t payload = payload_of(s_, oid);
  micro_buffer* b = find(payload);
  const uint64_t end = offset + length;
  if (b == nullptr) {
    const heap::object o = heap_.zones().locate(payload);
    const first_fragment first = first_of_read(s_, offset);
    with_size(s_, &lane_, o, first, [&](uint64_t size) {
      check_range(size, offset, length);
      if (s_.verify_on_read) hand_out(s_, &lane_, o, size, offset, end, first);
    });
    return s_.at(payload + offset);
  }
  if (b->freed) throw failure(SCUTE_E_FREED, "the object was freed earlier in this transaction");
  check_range(b->size, offset, length);
  if (!b->opened().overlaps(offset, end)) {
    if (s_.verify_on_read)
      hand_out(s_, &lane_, b->where, b->size, offset, end, first_fragment::known);
    return s_.at(payload + offset);
  }
  if (b->in_place_set.overlaps(offset, end))
    throw failure(SCUTE_E_INVALID,
                  "part of the range is open in place and part in a micro-buffer; "
                  "read them one by one");
  fill(*b, offset, end);
  return b->bytes + offset;
}

const void* transaction::peek(uint64_t oid) noexcept {
  const micro_buffer* b = find(oid & ~s_.oid_tag);
  return b != nullptr && !b->freed && b->bytes != nullptr && b->known.contains(0, b->size)
             ? b->bytes
             : nullptr;
}

bool transaction::describe(uint64_t oid, uint64_t* size, uint64_t* usable, uint32_t* type) {
  const micro_buffer* b = find(payload_of(s_, oid));
  if (b == nullptr) return false;
  if (b->freed) throw failure(SCUTE_E_FREED, "the object was freed earlier in this transaction");
  if (size != nullptr) *size = b->size;
  if (usable != nullptr) *usable = b->where.room;
  if (type != nullptr) *type = b->type;
  return true;
}

}  // namespace scute::core::tx
