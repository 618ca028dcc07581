// SPDX-License-Identifier: BSD-3-Clause
// Enumeration, and the look inside a pool that tools and drills need.
#include "c_api/pool/guard.hpp"
#include "core/shared/pool/foreign_parts.hpp"
#include "core/tx/verify.hpp"

using namespace scute::core;

namespace {

const char* kind_name(heap::use u) noexcept {
  switch (u) {
    case heap::use::virgin:
    case heap::use::pending_span:
    case heap::use::free: return "free";
    case heap::use::run: return "run";
    case heap::use::span: return "span";
    case heap::use::span_body: return "span-body";
    case heap::use::log: return "log";
    case heap::use::lost: return "lost";
  }
  return "unknown";
}

void locate_in_data(instance& in, uint64_t offset, scute_location& l) {
  const auto& g = in.s.geo;
  const uint64_t inside = offset - g.zone_offset(l.zone);
  if (inside < format::chunk_table_offset) {
    l.region = SCUTE_REGION_ZONE_HEADER;
    return;
  }
  heap::zone& z = in.heap->zones().get(l.zone);
  if (inside < g.chunk_base) {
    l.chunk = (inside - format::chunk_table_offset) / sizeof(format::chunk_header);
    l.region = l.chunk < g.chunks ? SCUTE_REGION_CHUNK_HEADER : SCUTE_REGION_PADDING;
    return;
  }
  l.chunk = (inside - g.chunk_base) >> g.chunk_shift;
  l.region = SCUTE_REGION_FREE;
  if (l.chunk >= g.chunks) return;
  heap::chunk_record* c = &z.chunks[l.chunk];
  heap::use use = c->kind.load();
  heap::object o;
  if (use == heap::use::log) {
    l.region = SCUTE_REGION_LOG;
    return;
  }
  if (use == heap::use::span_body) {
    c = &z.chunks[l.chunk - c->length];
    use = heap::use::span;
  }
  if (use == heap::use::span) {
    if (in.s.foreign && l.chunk >= in.s.foreign->first &&
        !pool::foreign_parts_of(in.s, l.zone).in_use(offset))
      return;
    o = in.heap->zones().span_object(*c);
  } else if (use == heap::use::run) {
    const uint32_t slot = c->slot_of((inside - g.chunk_base) & (g.chunk_size - 1));
    if (slot >= c->formatted.load()) return;
    o = in.heap->zones().slot_object(*c, slot);
  } else {
    return;
  }
  l.region = SCUTE_REGION_OBJECT;
  // A query for a location does not rebuild lost pages.
  if (in.s.medium->any_revoked() &&
      (in.s.medium->is_revoked(o.header) || in.s.resolving->pending()))
    return;
  const auto h = in.heap->zones().read_header(o);
  if (pool::covered(in.s, o.fragment(0), h) != pool::not_covered &&
      format::meta_role(h.meta) == format::role::live)
    l.object = in.s.oid_of(o.payload);
}

}  // namespace

extern "C" {

int scute_first(scute_pool* pool, uint32_t type, scute_oid* oid) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    // Set first, for the case that search() throws.
    c_api::need_out(oid, "oid") = SCUTE_OID_NULL;
    *oid = in.objects->search(0, 0, 0, type);
  });
}

int scute_next(scute_pool* pool, scute_oid after, uint32_t type, scute_oid* oid) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    c_api::need_out(oid, "oid");
    const heap::object o = in.heap->zones().locate(tx::payload_of(in.s, after));
    *oid = SCUTE_OID_NULL;
    *oid = o.is_span() ? in.objects->search(o.chunk->zone, o.chunk->index + 1, 0, type)
                       : in.objects->search(o.chunk->zone, o.chunk->index, o.slot + 1, type);
  });
}

int scute_locate(scute_pool* pool, uint64_t offset, scute_location* location) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    const auto& g = in.s.geo;
    scute_location l{};
    if (offset >= g.file_size)
      throw failure(SCUTE_E_RANGE, "offset " + std::to_string(offset) + " lies beyond the pool's " +
                                       std::to_string(g.file_size) + " bytes");
    l.region = SCUTE_REGION_PADDING;
    for (unsigned i = 0; i < 3; ++i) {
      const uint64_t inside = offset - g.superblock_offset(i);
      if (inside >= format::page) continue;
      l.region = inside < sizeof(format::superblock) ? SCUTE_REGION_SUPERBLOCK : SCUTE_REGION_NOTES;
      l.replica = i;
    }
    if (offset >= g.lanes_offset && offset < g.zones_offset) {
      l.region = SCUTE_REGION_LANE;
      l.replica = (offset - g.lanes_offset) / g.lane_size / g.lane_count;
    }
    if (offset >= g.zones_offset && offset < g.zones_end()) {
      l.zone = pool::zone_of(g, offset);
      const uint64_t inside = offset - g.zone_offset(l.zone);
      l.row = inside / g.row_size;
      l.column = inside % g.row_size;
      if (l.row >= g.rows)
        l.region = SCUTE_REGION_PARITY;
      else
        locate_in_data(in, offset, l);
    }
    c_api::copy_out(location, l, "location");
  });
}

int scute_offset_of(scute_pool* pool, uint64_t zone, uint64_t row, uint64_t column,
                    uint64_t* offset) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    const auto& g = in.s.geo;
    c_api::need_out(offset, "offset");
    if (zone >= g.zone_count || row >= uint64_t{g.rows} + g.parity || column >= g.row_size)
      throw failure(SCUTE_E_RANGE, "there is no such zone, row or column (the pool has " +
                                       std::to_string(g.zone_count) + " zones of " +
                                       std::to_string(g.rows) + "+" + std::to_string(g.parity) +
                                       " rows of " + std::to_string(g.row_size) + " bytes)");
    *offset = g.zone_offset(zone) + row * g.row_size + column;
  });
}

int scute_visit_chunks(scute_pool* pool, int (*visit)(void* arg, const scute_chunk_info* chunk),
                       void* arg) {
  const uncancelled now;
  int result = 0;
  const int e = c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    if (visit == nullptr) throw failure(SCUTE_E_INVALID, "visit is null");
    if (this_thread().current != nullptr)
      throw failure(SCUTE_E_INVALID,
                    "scute_visit_chunks() inside a transaction; end that one first");
    for (uint64_t z = 0; z < in.s.geo.zone_count && result == 0; ++z) {
      heap::zone& zn = in.heap->zones().get(z);
      for (uint32_t i = 0; i < zn.high_water.load() && result == 0; ++i) {
        heap::chunk_record& c = zn.chunks[i];
        scute_chunk_info info{};
        info.zone = z;
        info.chunk = i;
        info.offset = in.s.geo.chunk_offset(z, i);
        info.kind = kind_name(c.kind.load());
        info.generation = c.generation;
        if (c.kind.load() == heap::use::run) {
          info.slot_size = c.slot_size;
          info.slots = c.slots;
          info.formatted = c.formatted.load();
          info.used = in.heap->used_slots(c);
        }
        if (c.kind.load() == heap::use::span) info.length = c.length;
        result = visit(arg, &info);
      }
    }
  });
  return e != SCUTE_OK ? e : result;
}

}  // extern "C"
