// SPDX-License-Identifier: BSD-3-Clause
// Which fragments lie in a page of the data rows, for code that walks a pool while it is in use.
//
// FRAGREF-1 The chunk's record in memory is read without a lock, and may be a mixture of two uses.
//    So a fragment reference stores what was read, and code that finds its fragment damaged calls
//    still_there() before believing it.
// FRAGREF-2 The first header of an object of several fragments decides which others count. It may
//    change at any time, so it is read again, too. It is believed only if it is sound: a damaged
//    one may describe a shorter object.
#pragma once

#include <algorithm>

#include "core/heap/size_classes.hpp"
#include "core/heap/zone_table.hpp"
#include "core/shared/fragment.hpp"

namespace scute::core::scrub {

struct fragment_ref {
  pool::fragment f;
  heap::chunk_record* chunk = nullptr;  // null: a structure at a fixed place
  uint64_t first = 0;                   // file offset of the first header of the object
  heap::use use{};
  uint16_t generation = 0;
  uint32_t slot = 0, slot_size = 0, length = 0;

  const char* what() const noexcept {
    if (chunk != nullptr) return f.index == 0 ? "object" : "object fragment";
    return f.type == format::type_zone    ? "zone descriptor"
           : f.type == format::type_chunk ? "chunk header"
                                          : "root anchor";
  }
  // File offset of the object's first byte; 0 for structures.
  uint64_t object() const noexcept {
    return chunk == nullptr ? 0 : f.payload - f.index * format::fragment_payload;
  }
  // The fragment that the first header is part of.
  pool::fragment head() const noexcept {
    if (f.index == 0) return f;
    pool::fragment h = f;
    h.header = first;
    h.payload = object();
    h.index = 0;
    h.room = static_cast<uint32_t>(std::min(format::fragment_payload, f.object_room));
    return h;
  }
};

// A chunk as it was at one moment, more or less (FRAGREF-1).
struct chunk_view {
  heap::chunk_record* chunk = nullptr;  // of the run, or the span's first one; null: changing
  heap::use use{};
  uint16_t generation = 0;
  uint32_t slot_size = 0, formatted = 0, length = 0;
};

// The view of a chunk, or of the span that it is a part of.
chunk_view view_of(heap::zone& z, uint32_t chunk) noexcept;

// The view of a chunk that is free in memory, from its header in the pool, which may still say run
// or span (core/heap/zone_table.hpp, ZONE-1). The headers in it count until the chunk gets a new
// use: the next opening reads them. use: free if there are none.
chunk_view view_of_free(const pool::state& s, heap::zone& z, uint64_t zone,
                        uint32_t chunk) noexcept;

// Returns false if the chunk is being put, or has been put, to another use since.
bool still_there(const fragment_ref& g) noexcept;

// A single test without a lock; errs on the side of damage. size: set to that of the object if this
// is its first fragment and it is live; may be null.
bool looks_sound(const pool::state& s, const fragment_ref& g, uint64_t* size = nullptr) noexcept;

// Calls fn(fragment reference) for each fragment place that ends in the page at `inside` of the
// zone, or touches it. Slots beyond `formatted`, free chunks and those lent to logs have none.
// Returns false if the fragments of the page are not known: its chunk's header is lost, or it is
// changing.
enum class that : uint8_t { ends, touches };
template <typename Fn>
bool for_each_fragment_ref(const pool::state& s, heap::zone& z, uint64_t zone, uint64_t inside,
                           that lies, Fn&& fn) {
  const auto& g = s.geo;
  const uint64_t at = g.zone_offset(zone);
  const auto fixed = [&](uint64_t offset, uint32_t type) {
    fragment_ref x;
    x.f = pool::metadata_fragment(offset, type);
    x.first = offset;
    fn(static_cast<const fragment_ref&>(x));
  };
  if (inside < format::page) {
    fixed(at, format::type_zone);
    if (zone == 0) fixed(at + format::zone_anchor_offset, format::type_anchor);
    return true;
  }
  if (inside < g.chunk_base) {
    const uint64_t from = (inside - format::page) / sizeof(format::chunk_header);
    const uint64_t to = std::min<uint64_t>(from + format::page / sizeof(format::chunk_header),
                                           z.high_water.load(std::memory_order_acquire));
    for (uint64_t i = from; i < to; ++i) fixed(g.chunk_header_offset(zone, i), format::type_chunk);
    return true;
  }
  const uint64_t in_chunks = inside - g.chunk_base;
  const uint64_t chunk = in_chunks >> g.chunk_shift;
  if (chunk >= g.chunks) return true;
  chunk_view v = view_of(z, static_cast<uint32_t>(chunk));
  if (v.use == heap::use::lost) return false;
  fragment_ref x;
  x.use = v.use;
  if (v.use == heap::use::free) v = view_of_free(s, z, zone, static_cast<uint32_t>(chunk));
  if (v.use != heap::use::run && v.use != heap::use::span) return true;
  if (v.chunk == nullptr) return false;
  x.chunk = v.chunk;
  x.generation = x.f.generation = v.generation;
  x.slot_size = v.slot_size;
  x.length = v.length;
  const uint64_t low = at + inside, high = low + format::page;
  const auto object = [&](uint64_t base, uint64_t size, uint32_t slot) {
    const uint64_t n = pool::fragments_of(size), payload = base + n * format::header_size;
    x.first = base;
    x.slot = slot;
    x.f.object_room = size - n * format::header_size;
    const auto one = [&](uint64_t i) {
      x.f.index = i;
      x.f.header = base + i * format::header_size;
      x.f.payload = payload + i * format::fragment_payload;
      x.f.room = static_cast<uint32_t>(
          std::min(format::fragment_payload, x.f.object_room - i * format::fragment_payload));
      fn(static_cast<const fragment_ref&>(x));
    };
    // Fragments with payload in the page.
    uint64_t i = low > payload ? (low - payload) / format::fragment_payload : 0;
    const uint64_t first_payload = i;
    for (; i < n; ++i) {
      const uint64_t begin = payload + i * format::fragment_payload;
      if (begin >= high) break;
      const uint64_t end = begin + std::min(format::fragment_payload,
                                            x.f.object_room - i * format::fragment_payload);
      if (lies == that::ends ? end > low && end <= high : end > low) one(i);
    }
    const uint64_t past_payload = i;
    if (lies == that::ends || payload <= low) return;
    // Fragments whose headers are there.
    for (uint64_t k = low > base ? (low - base) / format::header_size : 0;
         k < n && base + k * format::header_size < high; ++k)
      if (k < first_payload || k >= past_payload) one(k);
  };
  if (v.use == heap::use::span) {
    const uint64_t base = g.chunk_offset(zone, v.chunk->index);
    const uint64_t length = std::min<uint64_t>(v.length, g.chunks - v.chunk->index);
    object(base, length << g.chunk_shift, 0);
    return true;
  }
  const uint64_t base = g.chunk_offset(zone, chunk), in_chunk = low - base;
  const uint64_t size = v.slot_size;
  if (size < 64 || size > g.chunk_size / 2) return false;
  const uint64_t slots = std::min<uint64_t>(v.formatted, g.chunk_size / size);
  for (uint64_t k = in_chunk / size; k < slots && k * size < in_chunk + format::page; ++k)
    object(base + k * size, size, static_cast<uint32_t>(k));
  return true;
}

}  // namespace scute::core::scrub
