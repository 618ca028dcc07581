// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/fragment_ref.hpp"

#include <cstring>

#include "core/shared/optimistic.hpp"

namespace scute::core::scrub {
namespace {

chunk_view read_chunk(heap::chunk_record& c) noexcept {
  chunk_view v;
  v.chunk = &c;
  v.use = c.kind.load(std::memory_order_acquire);
  v.generation = c.generation.load(std::memory_order_acquire);
  v.slot_size = c.slot_size.load(std::memory_order_acquire);
  v.formatted = c.formatted.load(std::memory_order_acquire);
  v.length = c.length.load(std::memory_order_acquire);
  return v;
}

}  // namespace

chunk_view view_of(heap::zone& z, uint32_t chunk) noexcept {
  chunk_view v = read_chunk(z.chunks[chunk]);
  if (v.use != heap::use::span_body) return v;
  chunk_view changing;
  changing.use = heap::use::span;
  const uint32_t distance = v.length;
  if (distance == 0 || distance > chunk) return changing;
  v = read_chunk(z.chunks[chunk - distance]);
  return v.use == heap::use::span && v.length > distance ? v : changing;
}

chunk_view view_of_free(const pool::state& s, heap::zone& z, uint64_t zone,
                        uint32_t chunk) noexcept {
  chunk_view none;
  none.use = heap::use::free;
  const auto header_of = [&](uint32_t i, format::chunk_header& h) {
    const uint64_t at = s.geo.chunk_header_offset(zone, i);
    if (!pool::valid(s, pool::metadata_fragment(at, format::type_chunk))) return false;
    std::memcpy(&h, s.at(at), sizeof h);
    return true;
  };
  format::chunk_header h;
  if (!header_of(chunk, h)) return none;
  if (h.kind == static_cast<uint8_t>(format::chunk_kind::span_body)) {
    const uint32_t distance = h.length;
    if (distance == 0 || distance > chunk || !header_of(chunk - distance, h)) return none;
    if (h.kind != static_cast<uint8_t>(format::chunk_kind::span) || h.length <= distance ||
        z.chunks[chunk - distance].kind.load(std::memory_order_acquire) != heap::use::free)
      return none;
    chunk -= distance;
  }
  chunk_view v;
  v.chunk = &z.chunks[chunk];
  v.generation = h.generation;
  v.slot_size = h.slot_size;
  v.formatted = h.formatted;
  v.length = h.length;
  if (h.kind == static_cast<uint8_t>(format::chunk_kind::run))
    v.use = heap::use::run;
  else if (h.kind == static_cast<uint8_t>(format::chunk_kind::span))
    v.use = heap::use::span;
  else
    return none;
  return v;
}

bool still_there(const fragment_ref& g) noexcept {
  if (g.chunk == nullptr) return true;
  const chunk_view v = read_chunk(*g.chunk);
  // A chunk that is free in memory has a new generation by the time that it is used again.
  if (g.use == heap::use::free) return v.use == heap::use::free && v.generation == g.generation;
  if (v.use != g.use || v.generation != g.generation) return false;
  if (v.use == heap::use::span) return v.length == g.length;
  return v.slot_size == g.slot_size && g.slot < v.formatted;
}

bool looks_sound(const pool::state& s, const fragment_ref& g, uint64_t* size) noexcept {
  const pool::optimistic_reads mark;
  format::fragment_header h;
  std::memcpy(&h, s.at(g.first), sizeof h);
  const bool live = format::meta_role(h.meta) == format::role::live;
  if (g.f.index != 0) {
    if (pool::covered(s, g.head(), h) == pool::not_covered) return false;
    // Only a sound header is believed if it says that the object does not use this fragment: damage
    // may have made the object shorter.
    if (!live || format::meta_size(h.meta) <= g.f.index * format::fragment_payload)
      return pool::valid(s, g.head());
    return pool::valid(s, g.f);
  }
  if (!pool::valid(s, g.f)) return false;
  if (size != nullptr && live && g.chunk != nullptr) *size = format::meta_size(h.meta);
  return true;
}

}  // namespace scute::core::scrub
