// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/heap.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "core/repair/repair.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::heap {
namespace {

// How many chunks of a size class are scanned for a free slot before a new chunk is taken. Limits
// the time of an allocation in a pool that was just opened.
constexpr size_t scan_ahead = 8;

}  // namespace

heap::heap(pool::state& s, step_engine& e)
    : s_(s),
      engine_(e),
      classes_(s.geo.chunk_size),
      zones_(s),
      caches_(s.geo.lane_count),
      noted_(s.geo.zone_count),
      unscanned_(static_cast<size_t>(classes_.count())),
      chunk_cache_(s.geo),
      span_max_(s.geo.chunks),
      with_room_(static_cast<size_t>(classes_.count())) {
  for (auto& c : caches_) {
    c.active.resize(static_cast<size_t>(classes_.count()));
    c.ahead.resize(static_cast<size_t>(classes_.count()), format::slots_first);
  }
}

uint64_t heap::size_max() const noexcept {
  return pool::payload_room(span_max_.load(std::memory_order_relaxed) << s_.geo.chunk_shift);
}

void heap::disk_full(const std::string& what) const {
  errno = no_blocks_;
  throw failure(SCUTE_E_NOSPC, "the file system of " + s_.path + " has no room left for " + what +
                                   "; make room there, or free objects");
}

void heap::full(uint64_t size) const {
  if (no_blocks_ != 0) disk_full("an object of " + std::to_string(size) + " bytes");
  throw failure(SCUTE_E_NOSPC, s_.path + " has no room left for an object of " +
                                   std::to_string(size) +
                                   " bytes; free objects, or move to a larger pool "
                                   "(`scute create --size`)");
}

// ---- runs ---------------------------------------------------------------------------------------

int heap::pop_free(chunk_record& c) noexcept {
  uint64_t* bits = c.free_bits.load(std::memory_order_acquire);
  if (bits == nullptr || c.free_count == 0) return -1;
  const uint32_t words = (c.slots + 63) / 64;
  for (uint32_t w = c.slots_hint; w < words; ++w) {
    if (bits[w] == 0) continue;
    const int bit = std::countr_zero(bits[w]);
    SCUTE_ASSERT(w * 64 + static_cast<uint32_t>(bit) < c.prepared.load(std::memory_order_relaxed));
    bits[w] &= bits[w] - 1;
    c.slots_hint = static_cast<uint16_t>(w);
    --c.free_count;
    return static_cast<int>(w * 64) + bit;
  }
  assertion_failed("free_count agrees with free_bits", __FILE__, __LINE__);
}

object heap::reserve(pool::lane& l, uint64_t size) {
  const int cls = classes_.of(size);
  if (cls == size_classes::none) return reserve_span(l, size);
  chunk_record*& active = caches_[l.index].active[static_cast<size_t>(cls)];
  for (;;) {
    if (active != nullptr) {
      const locked in_chunk(active->mutex);
      // A thread short of space may have emptied and reused a chunk that this lane considered its
      // own.
      const bool ours = is_run(*active, cls) && active->owned;
      const int slot = ours ? pop_free(*active) : -1;
      if (slot >= 0) return zones_.slot_object(*active, static_cast<uint32_t>(slot));
      if (!ours) active = nullptr;
    }
    active = refill(l, cls, active);
    if (active == nullptr) full(size);
  }
}

void heap::release(const object& o) noexcept {
  chunk_record& c = *o.chunk;
  if (o.is_span()) {
    const locked hold(zones_.chunk_mutex);
    zone& z = zones_.get(c.zone);
    zones_.forget_span(c);
    // ZONE-1: the header of its first fragment is free, so these are free chunks already.
    for (uint32_t k = 0; k < c.length; ++k)
      z.chunks[c.index + k].kind.store(use::free, std::memory_order_release);
    z.available += c.length;
    z.search_from = std::min(z.search_from, c.index);
    return;
  }
  const locked in_chunk(c.mutex);
  uint64_t* bits = c.free_bits.load(std::memory_order_relaxed);
  SCUTE_ASSERT(bits != nullptr);
  SCUTE_ASSERT((bits[o.slot / 64] >> o.slot % 64 & 1) == 0);
  bits[o.slot / 64] |= uint64_t{1} << o.slot % 64;
  ++c.free_count;
  SCUTE_ASSERT(c.free_count <= c.prepared.load(std::memory_order_relaxed));
  c.slots_hint = static_cast<uint16_t>(std::min<uint32_t>(c.slots_hint, o.slot / 64));
  if (!c.owned && !c.listed && c.size_class != size_classes::none) {
    const locked hold(list_mutex_);
    try {
      with_room_[static_cast<size_t>(c.size_class)].push_back(&c);
      c.listed = true;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
      // The chunk is found again by the search that precedes "no space".
    }
  }
}

void heap::prepare_free(const object& o) {
  if (o.is_span() || o.chunk->free_bits.load(std::memory_order_acquire) != nullptr) return;
  const locked hold(zones_.chunk_mutex);
  scan(*o.chunk);
}

uint32_t heap::used_slots(chunk_record& c) {
  {
    const locked hold(zones_.chunk_mutex);
    scan(c);
  }
  const locked in_chunk(c.mutex);
  return c.prepared.load(std::memory_order_relaxed) - c.free_count;
}

// Builds a run's bitmap from its slots' headers.
void heap::scan(chunk_record& c) {
  if (c.free_bits.load(std::memory_order_relaxed) != nullptr) return;
  const uint32_t words = (c.slots + 63) / 64;
  std::unique_ptr<uint64_t[]> bits(new uint64_t[words]());
  const uint32_t formatted = c.formatted.load(std::memory_order_relaxed);
  uint32_t count = 0;
  for (uint32_t i = 0; i < formatted; ++i) {
    const object o = zones_.slot_object(c, i);
    const pool::fragment f = o.fragment(0);
    format::fragment_header h = zones_.read_header(o);
    uint32_t n = pool::covered(s_, f, h);
    // Only a header that says free needs its checksum tested. A free slot taken for a live one is
    // wasted until it is checked; the reverse would destroy an object.
    const bool looks_live =
        n != pool::not_covered && format::meta_role(h.meta) == format::role::live;
    if (looks_live && (s_.has_checksums || pool::valid(s_, f, h, nullptr))) continue;
    if (n != 0 || !pool::valid(s_, f, h, nullptr)) {
      try {
        repair::repair_fragment(s_, nullptr, f, "object header", repair::on_loss::leave);
        h = zones_.read_header(o);
      } catch (const failure& e) {
        if (e.code() != SCUTE_E_CORRUPT) throw;
        // beyond repair: never hand the slot out; opening, checking or scrubbing it reports it
        // (REPAIR-7)
        continue;
      }
    }
    if (format::meta_role(h.meta) != format::role::free) continue;
    bits[i / 64] |= uint64_t{1} << i % 64;
    ++count;
  }
  const locked in_chunk(c.mutex);
  c.free_count = count;
  c.slots_hint = 0;
  c.size_class = static_cast<int8_t>(classes_.exact(c.slot_size));
  c.free_bits.store(bits.release(), std::memory_order_release);
}

// Adds a zone's runs to the lists of chunks that may have room.
void heap::note_zone(uint64_t z) {
  if (noted_[z]) return;
  zone& zn = zones_.get(z);
  for (uint32_t i = 0; i < zn.prepared; ++i) {
    chunk_record& c = zn.chunks[i];
    if (c.kind.load(std::memory_order_relaxed) != use::run) continue;
    const int cls = classes_.exact(c.slot_size);
    {
      const locked in_chunk(c.mutex);  // another thread may be giving a slot back
      c.size_class = static_cast<int8_t>(cls);
    }
    if (cls != size_classes::none) unscanned_[static_cast<size_t>(cls)].push_back(&c);
  }
  noted_[z] = true;
}

// Makes a chunk the caller's if it has free slots.
chunk_record* heap::take(chunk_record* c) noexcept {
  const locked in_chunk(c->mutex);
  c->owned = c->kind.load(std::memory_order_relaxed) == use::run && c->free_count != 0;
  return c->owned ? c : nullptr;
}

chunk_record* heap::take_listed(int size_class) {
  for (;;) {
    chunk_record* c = nullptr;
    {
      const locked hold(list_mutex_);
      auto& list = with_room_[static_cast<size_t>(size_class)];
      if (list.empty()) return nullptr;
      c = list.back();
      list.pop_back();
    }
    {
      const locked in_chunk(c->mutex);
      c->listed = false;
      if (!is_run(*c, size_class) || c->owned) continue;
    }
    if (take(c) != nullptr) return c;
  }
}

chunk_record* heap::scan_some(pool::lane& l, int size_class, size_t how_many) {
  auto& list = unscanned_[static_cast<size_t>(size_class)];
  for (; how_many != 0 && !list.empty(); --how_many) {
    chunk_record* c = list.back();
    list.pop_back();
    {
      const locked in_chunk(c->mutex);
      if (!is_run(*c, size_class) || c->owned) continue;
    }
    scan(*c);
    if (take(c) != nullptr) return c;
    if (grow(l, size_class, *c) && take(c) != nullptr) return c;
  }
  return nullptr;
}

// Enters the slots from `from` on, which have just been formatted, in the bitmap.
void heap::publish(chunk_record& c, uint32_t from) noexcept {
  const uint32_t to = c.prepared.load(std::memory_order_relaxed);
  const locked in_chunk(c.mutex);
  uint64_t* bits = c.free_bits.load(std::memory_order_relaxed);
  for (uint32_t i = from; i < to;) {
    const uint32_t n = std::min(64 - i % 64, to - i);
    bits[i / 64] |= ~uint64_t{0} >> (64 - n) << i % 64;
    i += n;
  }
  c.free_count += to - from;
  SCUTE_ASSERT(to <= c.slots && c.free_count <= to);
  c.slots_hint = static_cast<uint16_t>(std::min<uint32_t>(c.slots_hint, from / 64));
}

// Formats further slots of a run that has a bitmap. Returns false if the run is full. A lane that
// asks for a size class again and again gets more slots each time; a lane that needs few gets few.
bool heap::grow(pool::lane& l, int size_class, chunk_record& c) {
  const uint32_t from = c.prepared.load(std::memory_order_relaxed);
  if (from == c.slots) return false;
  uint32_t& ahead = caches_[l.index].ahead[static_cast<size_t>(size_class)];
  ahead = std::min(2 * ahead, zones_.slots_ahead(c.slot_size));
  zones_.format_slots(l, engine_, c, ahead);
  publish(c, from);
  return true;
}

chunk_record* heap::refill(pool::lane& l, int size_class, chunk_record* old) {
  const locked hold(zones_.chunk_mutex);
  if (old != nullptr) {
    // Between this thread's read and this lock it may have been emptied and put to another use.
    const locked in_chunk(old->mutex);
    if (!is_run(*old, size_class) || !old->owned) old = nullptr;
  }
  if (old != nullptr) {
    if (grow(l, size_class, *old)) return old;
    if (take(old) != nullptr) return old;  // another thread freed a slot meanwhile
  }
  if (chunk_record* c = take_listed(size_class)) return c;
  for (uint64_t z = 0; z < zones_.count(); ++z) {
    if (!noted_[z]) {
      // Zones are examined one after the other, and only while those before are full.
      note_zone(z);
      break;
    }
    if (zones_.get(z).available != 0) break;
  }
  if (chunk_record* c = scan_some(l, size_class, scan_ahead)) return c;
  chunk_record* c = take_chunks(l, 1);
  if (c == nullptr) return steal(l, size_class);
  std::unique_ptr<uint64_t[]> bits(
      new uint64_t[(s_.geo.chunk_size / classes_.slot_size(size_class) + 63) / 64]());
  zones_.make_run(l, engine_, *c, classes_.slot_size(size_class));
  --zones_.get(c->zone).available;
  {
    const locked in_chunk(c->mutex);
    c->size_class = static_cast<int8_t>(size_class);
    c->free_bits.store(bits.release(), std::memory_order_release);
    c->owned = true;
  }
  publish(*c, 0);
  return c;
}

// The pool has no free chunk: searches everything before giving up.
chunk_record* heap::steal(pool::lane& l, int size_class) {
  for (uint64_t z = 0; z < zones_.count(); ++z) note_zone(z);
  if (chunk_record* c = scan_some(l, size_class, SIZE_MAX)) return c;
  for (uint64_t z = 0; z < zones_.count(); ++z) {
    zone& zn = zones_.get(z);
    for (uint32_t i = 0; i < zn.prepared; ++i) {
      chunk_record& c = zn.chunks[i];
      {
        const locked in_chunk(c.mutex);
        if (!is_run(c, size_class) || c.free_bits.load(std::memory_order_relaxed) == nullptr)
          continue;
      }
      if (take(&c) != nullptr) return &c;  // another lane's: both allocate from it now
      if (grow(l, size_class, c) && take(&c) != nullptr) return &c;
    }
  }
  return nullptr;
}

}  // namespace scute::core::heap
