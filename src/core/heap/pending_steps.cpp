// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/pending_steps.hpp"

#include <algorithm>
#include <cstring>

#include "core/heap/header_change.hpp"
#include "core/heap/zone_table.hpp"

namespace scute::core::heap {

using format::chunk_kind;

namespace {

// PEND-5. The limit for many concurrent transactions, or one that was aborted; and for one that
// commits, in addition to its own allocations.
constexpr uint64_t pending_slots_max = uint64_t{1} << 16;
constexpr uint64_t excess_max = 1024;
// The limits of one step: its log must fit the room that every lane has.
constexpr uint32_t step_chunks = 16, step_slots = 256;

}  // namespace

// ---- steps that become pending ------------------------------------------------------------------

void zone_table::pend_chunks(uint64_t zi, uint32_t to) {
  const locked hold(pending_.mutex);
  zone& z = zones_[zi];
  if (std::ranges::find(pending_.zones, zi) == pending_.zones.end()) pending_.zones.push_back(zi);
  z.prepared = to;
  pending_.any.store(true, std::memory_order_release);
}

void zone_table::pend_run(chunk_record& c, uint16_t generation, uint32_t slot_size,
                          uint32_t slots) {
  const locked hold(pending_.mutex);
  pending_.runs.push_back(&c);
  become_run(c, generation, slot_size, 0);
  c.prepared.store(slots, std::memory_order_release);
  pending_.slots += slots;
  pending_.any.store(true, std::memory_order_release);
}

void zone_table::pend_slots(pool::lane& l, step_engine& e, chunk_record& c, uint32_t to) {
  uint64_t slots = 0;
  {
    const locked hold(pending_.mutex);
    slots = pending_.slots;
  }
  if (slots > pending_slots_max) make_pending(l, e);
  const locked hold(pending_.mutex);
  const uint32_t from = c.prepared.load(std::memory_order_relaxed);
  if (c.formatted.load(std::memory_order_relaxed) == from) pending_.runs.push_back(&c);
  c.prepared.store(to, std::memory_order_release);
  pending_.slots += to - from;
  pending_.any.store(true, std::memory_order_release);
}

void zone_table::pend_span(chunk_record& head, uint32_t length) {
  const locked hold(pending_.mutex);
  zone& z = zones_[head.zone];
  pending_.spans.push_back(&head);
  for (uint32_t k = 0; k < length; ++k) {
    chunk_record& c = z.chunks[head.index + k];
    c.generation = next_generation(c.generation);
    c.length = k == 0 ? length : k;
    c.kind.store(use::pending_span, std::memory_order_release);
  }
  head.slot_size = 0;
  pending_.any.store(true, std::memory_order_release);
}

void zone_table::forget_span(chunk_record& head) noexcept {
  const locked hold(pending_.mutex);
  if (head.kind.load(std::memory_order_relaxed) == use::pending_span)
    std::erase(pending_.spans, &head);
}

// ---- its patches --------------------------------------------------------------------------------

// Adds chunks [from, to) of a zone as free ones, and its mark. Headers of runs and spans may come
// in the same record.
void zone_table::add_chunk_headers(const pool::lane& l, uint64_t zi, uint32_t from, uint32_t to,
                                   uses_come come) {
  zone& z = zones_[zi];
  for (uint32_t i = from; i < to; ++i) {
    const chunk_record& c = z.chunks[i];
    const use now = c.kind.load(std::memory_order_relaxed);
    if (come == uses_come::along && (now == use::run || now == use::pending_span)) continue;
    pending_.add(s_.geo.chunk_header_offset(zi, i),
                 header_for(l, c, chunk_kind::free, c.generation, 0, 0, 0));
  }
  pending_.add(s_.geo.zone_offset(zi), descriptor_for(l, zi, to, z.log_chunks));
}

void zone_table::add_slots(const pool::lane& l, chunk_record& c, uint32_t from, uint32_t to,
                           std::span<const uint64_t> but) {
  const auto h = header_for(l, c, chunk_kind::run, c.generation, c.slot_size, to, 1);
  pending_.add(s_.geo.chunk_header_offset(c.zone, c.index), h);
  if (from == to) return;
  const object first = slot_object(c, from);
  auto next = std::ranges::lower_bound(but, first.header);
  seal_free_slots(s_, l, first, to - from, [&](uint32_t, const format::fragment_header& sealed) {
    pending_.mutex.assume_held();
    if (next != but.end() && *next == sealed.next) {
      ++next;
      return;
    }
    pending_.add(sealed.next, sealed);
  });
}

void zone_table::add_span_bodies(const pool::lane& l, const chunk_record& head, uint32_t from,
                                 uint32_t to) {
  const zone& z = zones_[head.zone];
  for (uint32_t k = from; k < to; ++k) {
    const chunk_record& c = z.chunks[head.index + k];
    pending_.add(s_.geo.chunk_header_offset(c.zone, c.index),
                 header_for(l, c, chunk_kind::span_body, c.generation, 0, 0, k));
  }
}

void zone_table::add_span_head(const pool::lane& l, chunk_record& head,
                               std::span<const uint64_t> but) {
  pending_.add(s_.geo.chunk_header_offset(head.zone, head.index),
               header_for(l, head, chunk_kind::span, head.generation, 0, 0, head.length));
  const object o = span_object(head);
  if (std::ranges::binary_search(but, o.header)) return;
  format::fragment_header h{};
  h.meta = format::make_meta(0, format::role::free, head.generation);
  pool::seal(s_, l, o.fragment(0), h, nullptr, 0);
  pending_.add(o.header, h);
}

void zone_table::span_is_made(chunk_record& head) noexcept {
  zone& z = zones_[head.zone];
  for (uint32_t k = 1; k < head.length; ++k)
    z.chunks[head.index + k].kind.store(use::span_body, std::memory_order_release);
  head.kind.store(use::span, std::memory_order_release);
}

// ---- made by a transaction ----------------------------------------------------------------------

taking_along::taking_along(zone_table& z, bool allocates) {
  if (!allocates || !z.any_pending()) return;
  z.pending_.mutex.lock();
  // The previous holder may have taken along everything that this one needs.
  if (z.any_pending())
    zones_ = &z;
  else
    z.pending_.mutex.unlock();
}

taking_along::~taking_along() {
  if (zones_ != nullptr) zones_->pending_.mutex.unlock();
}

std::span<const pool::patch> taking_along::patches(const pool::lane& l,
                                                   std::span<const uint64_t> but) {
  pending_steps& p = zones_->pending_;
  size_t bytes =
      p.slots * sizeof(format::fragment_header) + p.runs.size() * sizeof(format::chunk_header);
  for (const uint64_t zi : p.zones) {
    const zone& z = zones_->zones_[zi];
    bytes +=
        sizeof(format::zone_descriptor) +
        (z.prepared - z.high_water.load(std::memory_order_relaxed)) * sizeof(format::chunk_header);
  }
  for (const chunk_record* const c : p.spans)
    bytes += c->length * sizeof(format::chunk_header) + sizeof(format::fragment_header);
  p.images.clear();
  p.images.reserve(bytes);  // pointers into it stay
  p.patches.clear();
  for (const uint64_t zi : p.zones) {
    const zone& z = zones_->zones_[zi];
    zones_->add_chunk_headers(l, zi, z.high_water.load(std::memory_order_relaxed), z.prepared,
                              zone_table::uses_come::along);
  }
  for (chunk_record* const c : p.runs)
    zones_->add_slots(l, *c, c->formatted.load(std::memory_order_relaxed),
                      c->prepared.load(std::memory_order_relaxed), but);
  for (chunk_record* const c : p.spans) {
    zones_->add_span_bodies(l, *c, 1, c->length);
    zones_->add_span_head(l, *c, but);
  }
  return p.patches;
}

// PEND-2
void taking_along::made() noexcept {
  pending_steps& p = zones_->pending_;
  for (const uint64_t zi : p.zones) {
    zone& z = zones_->zones_[zi];
    z.high_water.store(z.prepared, std::memory_order_release);
  }
  for (chunk_record* const c : p.runs)
    c->formatted.store(c->prepared.load(std::memory_order_relaxed), std::memory_order_release);
  for (chunk_record* const c : p.spans) zones_->span_is_made(*c);
  p.zones.clear();
  p.runs.clear();
  p.spans.clear();
  p.slots = 0;
  p.any.store(false, std::memory_order_release);
}

// ---- made by itself -----------------------------------------------------------------------------

void zone_table::step_pending(pool::lane& l, step_engine& e) {
  e.step(l, pending_.patches);
  pending_.patches.clear();
  pending_.images.clear();
}

bool zone_table::is_excess(uint64_t objects) {
  const locked hold(pending_.mutex);
  return pending_.slots > 2 * objects + excess_max;
}

// In steps, each of which is complete: a run of a new chunk is a free one until its slots are
// formatted.
void zone_table::make_pending(pool::lane& l, step_engine& e) {
  if (!any_pending()) return;
  const locked hold(pending_.mutex);
  pending_.patches.clear();
  pending_.images.clear();
  pending_.images.reserve((step_chunks + 2) * sizeof(format::chunk_header) +
                          step_slots * sizeof(format::fragment_header));
  for (; !pending_.zones.empty(); pending_.zones.pop_back()) {
    const uint64_t zi = pending_.zones.back();
    zone& z = zones_[zi];
    while (z.high_water.load(std::memory_order_relaxed) < z.prepared) {
      const uint32_t from = z.high_water.load(std::memory_order_relaxed);
      const uint32_t to = std::min(from + step_chunks, z.prepared);
      add_chunk_headers(l, zi, from, to, uses_come::later);
      step_pending(l, e);
      z.high_water.store(to, std::memory_order_release);
    }
  }
  for (; !pending_.runs.empty(); pending_.runs.pop_back()) {
    chunk_record& c = *pending_.runs.back();
    const uint32_t end = c.prepared.load(std::memory_order_relaxed);
    while (c.formatted.load(std::memory_order_relaxed) < end) {
      const uint32_t from = c.formatted.load(std::memory_order_relaxed);
      const uint32_t to = std::min(from + step_slots, end);
      add_slots(l, c, from, to, {});
      step_pending(l, e);
      c.formatted.store(to, std::memory_order_release);
      pending_.slots -= to - from;
    }
  }
  for (; !pending_.spans.empty(); pending_.spans.pop_back()) {
    chunk_record& head = *pending_.spans.back();
    for (uint32_t k = 1; k < head.length; k += step_chunks) {  // ZONE-3
      add_span_bodies(l, head, k, std::min<uint32_t>(k + step_chunks, head.length));
      step_pending(l, e);
    }
    add_span_head(l, head, {});
    step_pending(l, e);
    span_is_made(head);
  }
  pending_.any.store(false, std::memory_order_release);
}

}  // namespace scute::core::heap
