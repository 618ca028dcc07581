// SPDX-License-Identifier: BSD-3-Clause
#include "heal/sighting.hpp"

#include <cstring>

#include "pool/optimistic.hpp"

namespace scute::heal {
namespace {

chunk_view read_chunk(heap::chunk_state& c) noexcept {
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

bool still_there(const sighting& g) noexcept {
  if (g.chunk == nullptr) return true;
  const chunk_view v = read_chunk(*g.chunk);
  if (v.use != g.use || v.generation != g.generation) return false;
  if (v.use == heap::use::span) return v.length == g.length;
  return v.slot_size == g.slot_size && g.slot < v.formatted;
}

bool looks_sound(const pool::state& s, const sighting& g, uint64_t* size) noexcept {
  const pool::optimistic_reads mark;
  format::fragment_header h;
  std::memcpy(&h, s.at(g.first), sizeof h);
  const bool live = format::meta_state(h.meta) == format::state::live;
  if (g.f.index != 0) {
    if (pool::covered(s, g.head(), h) == pool::not_covered) return false;
    if (!live || format::meta_size(h.meta) <= g.f.index * format::fragment_payload) return true;
    return pool::valid(s, g.f);
  }
  if (!pool::valid(s, g.f)) return false;
  if (size != nullptr && live && g.chunk != nullptr) *size = format::meta_size(h.meta);
  return true;
}

}  // namespace scute::heal
