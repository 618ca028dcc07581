// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/page_layout.hpp"

#include <algorithm>
#include <cstring>

#include "base/rounding.hpp"
#include "core/shared/object_place.hpp"
#include "core/shared/pool/zone_usage.hpp"

namespace scute::core::repair {
namespace {

// Returns false if the header is damaged.
bool header_of(const pool::state& s, uint64_t zone, uint64_t chunk,
               format::chunk_header& h) noexcept {
  const uint64_t at = s.geo.chunk_header_offset(zone, static_cast<uint32_t>(chunk));
  if (!pool::valid(s, pool::metadata_fragment(at, format::type_chunk))) return false;
  std::memcpy(&h, s.at(at), sizeof h);
  return true;
}

struct visitor {
  const pool::state& s;
  uint64_t page;
  bool all_places;
  void (*fn)(void*, const fragment_in_page&);
  void* arg;

  bool meets(uint64_t from, uint64_t length) const noexcept {
    return from < page + format::page && from + length > page;
  }

  void metadata(uint64_t at, uint32_t type) const noexcept {
    if (meets(at, 64)) fn(arg, {pool::metadata_fragment(at, type), 0});
  }

  void structures(uint64_t zone) const noexcept {
    const uint64_t at = s.geo.zone_offset(zone);
    metadata(at, format::type_zone);
    if (zone == 0) metadata(at + format::zone_anchor_offset, format::type_anchor);
    const uint32_t high = pool::read_usage(s, zone).high_water;
    const uint64_t table = s.geo.chunk_header_offset(zone, 0);
    if (page + format::page <= table) return;
    const uint64_t first = page <= table ? 0 : (page - table) / sizeof(format::chunk_header);
    for (uint64_t i = first; i < high && meets(table + i * 64, 64); ++i)
      metadata(table + i * 64, format::type_chunk);
  }

  // LAYOUT-3
  bool in_span(uint64_t zone, uint64_t head, const pool::fragment& f) const noexcept {
    const uint64_t chunks = s.geo.zone_offset(zone) + s.geo.chunk_base;
    const uint64_t last = (f.payload + f.room - 1 - chunks) >> s.geo.chunk_shift;
    for (uint64_t i = (f.payload - chunks) >> s.geo.chunk_shift; i <= last; ++i) {
      format::chunk_header h;
      if (i == head) continue;
      if (!header_of(s, zone, i, h) ||
          h.kind != static_cast<uint8_t>(format::chunk_kind::span_body) || h.length != i - head)
        return false;
    }
    return true;
  }

  // Reports the fragments of a slot or span of `size` bytes at `header`. own(f): the place of f is
  // part of it.
  template <typename Own>
  void object(uint64_t header, uint64_t size, uint16_t generation, Own&& own) const noexcept {
    const auto o = pool::object_place::at(header, size);
    format::fragment_header first;
    std::memcpy(&first, s.at(header), sizeof first);
    const uint32_t n = pool::covered(s, o.part(0, generation), first);
    const bool live = n != pool::not_covered && format::meta_role(first.meta) == format::role::live;
    const uint64_t bytes = live ? format::meta_size(first.meta) : 1;
    const uint64_t claimed =
        std::max<uint64_t>(1, (bytes + format::fragment_payload - 1) / format::fragment_payload);
    const uint64_t count =
        all_places ? (o.room + format::fragment_payload - 1) / format::fragment_payload : claimed;
    const auto report = [&](uint64_t index) {
      const pool::fragment f = o.part(index, generation);
      if (index < claimed)
        fn(arg, {f, live ? s.oid_of(o.payload) : 0});
      else if (own(f))
        fn(arg, {f, 0, false});
    };
    // Fragments whose headers overlap the page, and those whose payloads do.
    const uint64_t first_header = page > header ? (page - header) / format::header_size : 0;
    uint64_t at = first_header;
    for (; at < count && meets(header + at * format::header_size, format::header_size); ++at)
      report(at);
    for (uint64_t next = page > o.payload ? (page - o.payload) / format::fragment_payload : 0;
         next < count; ++next) {
      if (next >= first_header && next < at) continue;
      const pool::fragment f = o.part(next, generation);
      if (!meets(f.payload, f.room)) break;
      report(next);
    }
  }

  void chunk(uint64_t zone, uint64_t index) const noexcept {
    format::chunk_header h;
    if (!header_of(s, zone, index, h)) return;
    if (h.kind == static_cast<uint8_t>(format::chunk_kind::span_body)) {
      if (h.length == 0 || h.length > index) return;
      index -= h.length;
      if (!header_of(s, zone, index, h)) return;
      if (h.kind != static_cast<uint8_t>(format::chunk_kind::span)) return;
    }
    const uint64_t at = s.geo.chunk_offset(zone, static_cast<uint32_t>(index));
    if (h.kind == static_cast<uint8_t>(format::chunk_kind::span)) {
      if (h.length == 0 || h.length > s.geo.chunks - index) return;
      object(at, uint64_t{h.length} << s.geo.chunk_shift, h.generation,
             [&](const pool::fragment& f) { return in_span(zone, index, f); });
    } else if (h.kind == static_cast<uint8_t>(format::chunk_kind::run)) {
      if (h.slot_size < 64 || h.slot_size % 32 != 0 || h.slot_size > s.geo.chunk_size) return;
      const uint64_t slots = std::min<uint64_t>(h.formatted, s.geo.chunk_size / h.slot_size);
      for (uint64_t k = page > at ? (page - at) / h.slot_size : 0;
           k < slots && meets(at + k * h.slot_size, h.slot_size); ++k)
        object(at + k * h.slot_size, h.slot_size, h.generation,
               [](const pool::fragment&) { return true; });
    }
  }
};

void visit(const visitor& v) noexcept {
  const auto& g = v.s.geo;
  const uint64_t zone = pool::zone_of(g, v.page);
  const uint64_t inside = v.page - g.zone_offset(zone);
  if (inside < g.chunk_base) return v.structures(zone);
  const uint64_t index = (inside - g.chunk_base) >> g.chunk_shift;
  if (index < g.chunks) v.chunk(zone, index);
}

}  // namespace

void for_each_fragment(const pool::state& s, uint64_t page,
                       void (*fn)(void*, const fragment_in_page&), void* arg) noexcept {
  visit({s, page, false, fn, arg});
}

void for_each_place(const pool::state& s, uint64_t page, void (*fn)(void*, const fragment_in_page&),
                    void* arg) noexcept {
  visit({s, page, true, fn, arg});
}

bool place_at(const pool::state& s, uint64_t header, pool::fragment& f) noexcept {
  bool any = false;
  for_each_place(s, round_down(header, format::page), [&](const fragment_in_page& p) {
    if (p.fragment.header != header) return;
    f = p.fragment;
    any = true;
  });
  return any;
}

pool::fragment first_of(const pool::fragment& f) noexcept {
  pool::fragment first = f;
  first.header -= f.index * format::header_size;
  first.payload -= f.index * format::fragment_payload;
  first.index = 0;
  first.room = static_cast<uint32_t>(std::min(format::fragment_payload, f.object_room));
  return first;
}

header_area span_headers(const pool::state& s, uint64_t offset) noexcept {
  const uint64_t zone = pool::zone_of(s.geo, offset);
  const uint64_t index = (offset - s.geo.zone_offset(zone) - s.geo.chunk_base) >> s.geo.chunk_shift;
  format::chunk_header h;
  if (!header_of(s, zone, index, h) || h.kind != static_cast<uint8_t>(format::chunk_kind::span) ||
      h.length == 0 || h.length > s.geo.chunks - index)
    return {};
  return {offset,
          pool::fragments_of(uint64_t{h.length} << s.geo.chunk_shift) * format::header_size};
}

}  // namespace scute::core::repair
