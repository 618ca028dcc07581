// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/zone_table.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/locks/lock.hpp"
#include "codec/checksum/crc32c.hpp"
#include "codec/parity/parity.hpp"
#include "core/heap/header_change.hpp"
#include "core/heap/size_classes.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::heap {

using format::chunk_kind;

namespace {

// Chunk headers prepared at a time, so that virgin chunks cost one step per 16.
constexpr uint32_t extend_by = 16;
// Headers of span bodies written in one step: the step's log must fit the smallest lane.
constexpr uint32_t step_headers = 32;

}  // namespace

void release_chunks::operator()(chunk_record* p) const noexcept {
  for (uint32_t i = 0; i < count; ++i) delete[] p[i].free_bits.load(std::memory_order_relaxed);
  std::free(p);
}

zone_table::zone_table(pool::state& s) : s_(s), zones_(s.geo.zone_count) {}

void zone_table::load_once(uint64_t z) {
  const locked hold(zones_[z].load_mutex);
  if (!zones_[z].loaded.load(std::memory_order_relaxed)) load(z);
}

void zone_table::load(uint64_t index) {
  zone& z = zones_[index];
  const auto& g = s_.geo;
  const auto d = repair::read_metadata<format::zone_descriptor>(
      s_, nullptr, g.zone_offset(index), format::type_zone, "zone descriptor");
  if (d.index != index || d.high_water > g.chunks)
    throw failure(SCUTE_E_CORRUPT, s_.path + ": the descriptor of zone " + std::to_string(index) +
                                       " contradicts the superblock; restore from a backup");
  // calloc: the pages of chunks never used are never touched.
  auto* raw = static_cast<chunk_record*>(std::calloc(g.chunks, sizeof(chunk_record)));
  if (raw == nullptr) throw std::bad_alloc();
  z.chunks = {raw, release_chunks{g.chunks}};
  s_.used_end[index].store(g.chunk_base + (uint64_t{d.high_water} << g.chunk_shift),
                           std::memory_order_release);
  z.log_chunks = d.log_chunks;
  z.available = g.chunks;
  for (uint32_t i = 0; i < d.high_water;) {
    chunk_record& c = raw[i];
    c.index = i;
    c.zone = static_cast<uint32_t>(index);
    uint32_t covers = 1;
    try {
      const auto h = repair::read_metadata<format::chunk_header>(
          s_, nullptr, g.chunk_header_offset(index, i), format::type_chunk, "chunk header");
      adopt(z, index, i, h);
      if (c.kind == use::span) covers = c.length;
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_CORRUPT) throw;
      c.kind = use::lost;
      --z.available;
    }
    i += covers;
  }
  // FOREIGN-2
  for (uint32_t i = s_.foreign ? s_.foreign->first : g.chunks; i < g.chunks; ++i) {
    const use now = raw[i].kind.load();
    if (now != use::free && now != use::virgin) continue;
    raw[i].kind = use::lost;
    --z.available;
  }
  z.prepared = d.high_water;
  z.high_water.store(d.high_water, std::memory_order_release);
  z.loaded.store(true, std::memory_order_release);
}

void zone_table::adopt(zone& z, uint64_t index, uint32_t i, const format::chunk_header& h) {
  const auto& g = s_.geo;
  chunk_record& c = z.chunks[i];
  c.generation = h.generation;
  c.kind = use::free;
  const auto contradiction = [&] {
    return failure(SCUTE_E_CORRUPT, "the header of chunk " + std::to_string(i) + " of zone " +
                                        std::to_string(index) + " is inconsistent");
  };
  switch (static_cast<chunk_kind>(h.kind)) {
    case chunk_kind::free: break;
    case chunk_kind::run:
      if (h.slot_size < 64 || h.slot_size % 32 != 0 || h.slot_size > g.chunk_size / 2 ||
          h.formatted > g.chunk_size / h.slot_size)
        throw contradiction();
      become_run(c, h.generation, h.slot_size, h.formatted);
      --z.available;
      break;
    case chunk_kind::span: {
      if (h.length == 0 || h.length > g.chunks - i) throw contradiction();
      c.length = h.length;
      c.slot_size = 0;
      c.kind = use::span;
      const object o = span_object(c);
      const pool::fragment first = o.fragment(0);
      if (s_.resolving->pending()) s_.resolving->before_read(first);
      if (!pool::valid(s_, first)) {
        try {
          repair::repair_fragment(s_, nullptr, first, "first fragment of a large object",
                                  repair::on_loss::leave);
        } catch (const failure& e) {
          // Its other fragments may be sound. The space is kept, and a caller that opens the object
          // gets the error (REPAIR-7).
          if (e.code() != SCUTE_E_CORRUPT) throw;
        }
      }
      format::fragment_header fh;
      std::memcpy(&fh, s_.at(o.header), sizeof fh);
      const uint32_t n = pool::covered(s_, first, fh);
      const bool is_free = n != pool::not_covered &&
                           format::meta_role(fh.meta) == format::role::free &&
                           pool::valid(s_, first);
      if (is_free) {
        c.kind = use::free;  // ZONE-1
        break;
      }
      z.available -= c.length;
      for (uint32_t k = 1; k < c.length; ++k) {
        chunk_record& body = z.chunks[i + k];
        body.index = i + k;
        body.zone = static_cast<uint32_t>(index);
        body.kind = use::span_body;
        body.length = k;
        format::chunk_header bh;
        std::memcpy(&bh, s_.at(g.chunk_header_offset(index, i + k)), sizeof bh);
        body.generation = bh.generation;
      }
      break;
    }
    case chunk_kind::span_body: {
      // ZONE-1: no live span covers it, or the loop would not have come here. But if the header
      // that would say so is lost, this may be all that is left of an object.
      if (h.length == 0 || h.length > i || z.chunks[i - h.length].kind != use::lost) break;
      c.kind = use::lost;
      --z.available;
      break;
    }
    case chunk_kind::log:
      c.kind = use::log;
      --z.available;
      break;
    default: throw contradiction();
  }
}

void zone_table::become_run(chunk_record& c, uint16_t generation, uint32_t slot_size,
                            uint32_t formatted) const {
  const locked in_chunk(c.mutex);
  c.generation = generation;
  c.slot_size = slot_size;
  c.slots = s_.geo.chunk_size / slot_size;
  c.reciprocal = chunk_record::reciprocal_of(slot_size);
  c.length = 1;
  c.free_count = 0;
  c.slots_hint = 0;
  c.owned = c.listed = false;
  delete[] c.free_bits.exchange(nullptr, std::memory_order_relaxed);
  c.prepared.store(formatted, std::memory_order_relaxed);
  c.formatted.store(formatted, std::memory_order_release);
  c.kind.store(use::run, std::memory_order_release);
}

object zone_table::span_object(chunk_record& c) const noexcept {
  const uint64_t length = std::min<uint64_t>(c.length, s_.geo.chunks - c.index);
  const uint64_t size = length << s_.geo.chunk_shift;
  return {pool::object_place::at(offset_of(c), size), &c, 0};
}

void zone_table::nowhere(uint64_t payload_offset, const char* why) const {
  throw failure(SCUTE_E_OID, "oid offset " + std::to_string(payload_offset) + " of " + s_.path +
                                 " is no object: " + why);
}

object zone_table::locate(uint64_t payload_offset) {
  const auto& g = s_.geo;
  const uint64_t zi = pool::zone_of(g, payload_offset);
  if (payload_offset < g.zones_offset || zi >= zones_.size())
    nowhere(payload_offset, "it lies outside the pool's zones");
  const uint64_t inside = payload_offset - g.zone_offset(zi);
  const uint64_t in_chunks = inside - g.chunk_base;
  if (inside < g.chunk_base || in_chunks >= uint64_t{g.chunks} << g.chunk_shift)
    nowhere(payload_offset, "it lies in the pool's own structures");
  chunk_record& c = get(zi).chunks[in_chunks >> g.chunk_shift];
  switch (c.kind.load(std::memory_order_acquire)) {
    case use::run: {
      const uint32_t slot = c.slot_of(in_chunks & (g.chunk_size - 1));
      if (slot >= c.prepared.load(std::memory_order_acquire))
        nowhere(payload_offset, "nothing was ever allocated there");
      const object o = slot_object(c, slot);
      if (o.payload != payload_offset)
        nowhere(payload_offset, "it points into the middle of a slot");
      if (slot >= c.formatted.load(std::memory_order_acquire))
        throw failure(SCUTE_E_FREED, "oid offset " + std::to_string(payload_offset) + " of " +
                                         s_.path + " is of no object that was committed");
      return o;
    }
    case use::span: {
      const object o = span_object(c);
      if (o.payload != payload_offset)
        nowhere(payload_offset, "it points into the middle of an object");
      return o;
    }
    case use::span_body: {
      // The fragment headers of a very large object fill its first chunks.
      const uint32_t distance = c.length;
      chunk_record* head = &c - std::min(distance, c.index);
      if (head->kind.load(std::memory_order_acquire) == use::span) {
        const object o = span_object(*head);
        if (o.payload == payload_offset) return o;
      }
      nowhere(payload_offset, "it points into the middle of a large object");
    }
    case use::lost:
      throw failure(SCUTE_E_CORRUPT, "oid offset " + std::to_string(payload_offset) + " of " +
                                         s_.path + " lies in a chunk whose header is lost");
    default:
      throw failure(SCUTE_E_FREED, "oid offset " + std::to_string(payload_offset) + " of " +
                                       s_.path + " lies in free space: the object was freed");
  }
}

format::fragment_header zone_table::read_header(const object& o) {
  if (s_.resolving->pending()) s_.resolving->before_read(o.fragment(0));
  format::fragment_header h;
  const uint32_t stripe = pool::stripe_of(s_, o.header);
  s_.locks.lock_exclusive(stripe);
  {
    const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
    std::memcpy(&h, s_.at(o.header), sizeof h);
  }
  s_.locks.unlock_exclusive(stripe);
  return h;
}

// ---- changing headers ---------------------------------------------------------------------------

format::chunk_header zone_table::header_for(const pool::lane& l, const chunk_record& c,
                                            chunk_kind kind, uint16_t generation,
                                            uint32_t slot_size, uint32_t formatted,
                                            uint32_t length) const {
  format::chunk_header h{};
  h.kind = static_cast<uint8_t>(kind);
  h.fragments = static_cast<uint8_t>(slot_size == 0 ? 0 : pool::fragments_of(slot_size));
  h.generation = generation;
  h.slot_size = slot_size;
  h.formatted = formatted;
  h.length = length;
  pool::seal_metadata(s_, l, s_.geo.chunk_header_offset(c.zone, c.index), format::type_chunk, h);
  return h;
}

format::zone_descriptor zone_table::descriptor_for(const pool::lane& l, uint64_t z,
                                                   uint32_t high_water, uint32_t log_chunks) const {
  format::zone_descriptor d{};
  d.index = z;
  d.high_water = high_water;
  d.log_chunks = log_chunks;
  pool::seal_metadata(s_, l, s_.geo.zone_offset(z), format::type_zone, d);
  return d;
}

int zone_table::extend(pool::lane& l, step_engine& e, uint64_t zi, uint32_t chunk) {
  zone& z = get(zi);
  const auto& g = s_.geo;
  while (z.prepared <= chunk) {
    const uint32_t from = z.prepared;
    uint32_t to = std::min(from + extend_by, g.chunks);
    int no_blocks = reserve(zi, from, to);
    if (no_blocks != 0) no_blocks = reserve(zi, from, to = from + 1);
    if (no_blocks != 0) return no_blocks;
    format::chunk_header headers[extend_by];
    pool::patch patches[extend_by + 1];
    for (uint32_t i = from; i < to; ++i) {
      chunk_record& c = z.chunks[i];
      c.index = i;
      c.zone = static_cast<uint32_t>(zi);
      // In a foreign pool this is more of an existing span, see core/heap/foreign_span.hpp.
      const bool body = s_.foreign && i > s_.foreign->first;
      headers[i - from] =
          body ? header_for(l, c, chunk_kind::span_body, 1, 0, 0, i - s_.foreign->first)
               : header_for(l, c, chunk_kind::free, 0, 0, 0, 0);
      patches[i - from] =
          metadata_patch(g.chunk_header_offset(zi, i), &headers[i - from], sizeof headers[0]);
    }
    // Parity takes chunks that were never used for zeros. A scribble there must not become data.
    bool scribbled = false;
    for (uint64_t at = g.chunk_offset(zi, from); s_.has_parity && at < g.chunk_offset(zi, to);
         at += format::page) {
      if (codec::is_zero(s_.at(at), format::page)) continue;
      static constexpr std::byte zeros[format::page]{};
      l.w.stream(s_.at(at), zeros, sizeof zeros, medium::purpose::metadata);
      s_.repaired.fetch_add(1, std::memory_order_relaxed);
      s_.events.post({SCUTE_EVENT_FREE, SCUTE_OUTCOME_REPAIRED, scute_finder{}, at, format::page});
      scribbled = true;
    }
    // The step makes the chunks count, so they must be zeros before its entry can be durable.
    if (scribbled) l.w.fence(fence_site::extend);
    const auto d = descriptor_for(l, zi, to, z.log_chunks);
    patches[to - from] = metadata_patch(g.zone_offset(zi), &d, sizeof d);
    s_.used_end[zi].store(g.chunk_base + (uint64_t{to} << g.chunk_shift),
                          std::memory_order_release);
    const bool later = pends(e);
    if (!later) e.step(l, {patches, to - from + 1});
    for (uint32_t i = from; i < to; ++i)
      if (z.chunks[i].kind.load() == use::virgin) z.chunks[i].kind.store(use::free);
    if (later) {
      pend_chunks(zi, to);
      continue;
    }
    z.prepared = to;
    z.high_water.store(to, std::memory_order_release);
  }
  return 0;
}

// Reserves blocks for chunks that come into use. Returns an errno if the file system has no room
// (core/shared/parity/blocks.hpp).
int zone_table::reserve(uint64_t z, uint32_t from, uint32_t to) const {
  const uint64_t offset = s_.geo.chunk_offset(z, from);
  const uint64_t length = uint64_t{to - from} << s_.geo.chunk_shift;
  pool::will_use_columns(s_, offset, length);
  const int e = pool::reserve_columns(s_, offset, length);
  if (e != 0 && !pool::no_room(e)) throw_errno("reserve blocks of " + s_.path, e);
  return e;
}

void zone_table::make_span(pool::lane& l, step_engine& e, chunk_record& head, uint32_t length) {
  if (pends(e) && length <= pending_span_max) return pend_span(head, length);
  make_pending(l, e);  // PEND-4
  zone& z = get(head.zone);
  for (uint32_t k = 1; k < length;) {
    format::chunk_header headers[step_headers];
    pool::patch patches[step_headers];
    uint32_t n = 0;
    for (; n < step_headers && k < length; ++n, ++k) {
      chunk_record& c = z.chunks[head.index + k];
      c.generation = next_generation(c.generation);
      headers[n] = header_for(l, c, chunk_kind::span_body, c.generation, 0, 0, k);
      patches[n] = metadata_patch(s_.geo.chunk_header_offset(c.zone, c.index), &headers[n],
                                  sizeof headers[n]);
    }
    e.step(l, {patches, n});
  }
  chunk_record next{};
  next.index = head.index;
  next.zone = head.zone;
  next.length = length;
  next.generation = next_generation(head.generation);
  const auto h = header_for(l, head, chunk_kind::span, next.generation, 0, 0, length);
  const object o = span_object(next);
  format::fragment_header fh{};
  fh.meta = format::make_meta(0, format::role::free, next.generation);
  pool::seal(s_, l, o.fragment(0), fh, nullptr, 0);
  const pool::patch patches[2] = {
      metadata_patch(s_.geo.chunk_header_offset(head.zone, head.index), &h, sizeof h),
      metadata_patch(o.header, &fh, sizeof fh)};
  e.step(l, patches);
  head.generation = next.generation.load();
  head.length = length;
  head.slot_size = 0;
  for (uint32_t k = 1; k < length; ++k) {
    z.chunks[head.index + k].length = k;
    z.chunks[head.index + k].kind.store(use::span_body);
  }
  head.kind.store(use::span, std::memory_order_release);
}

void zone_table::make_log(pool::lane& l, step_engine& e, chunk_record& c, lending how) {
  make_pending(l, e);  // PEND-4
  zone& z = get(c.zone);
  const bool lend = how == lending::out;
  const uint16_t generation = next_generation(c.generation);
  const auto h = header_for(l, c, lend ? chunk_kind::log : chunk_kind::free, generation, 0,
                            lend ? format::log_chunk_zeroed : 0, 1);
  const uint32_t log_chunks = how == lending::not_yet ? z.log_chunks
                              : lend                  ? z.log_chunks + 1
                                                      : z.log_chunks - 1;
  const auto d = descriptor_for(l, c.zone, z.high_water, log_chunks);
  const pool::patch patches[] = {
      metadata_patch(s_.geo.chunk_header_offset(c.zone, c.index), &h, sizeof h),
      metadata_patch(s_.geo.zone_offset(c.zone), &d, sizeof d)};
  e.step(l, patches);
  z.log_chunks = log_chunks;
  c.generation = generation;
  c.slot_size = 0;
  c.kind.store(lend ? use::log : use::free);
}

}  // namespace scute::core::heap
