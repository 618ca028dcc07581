// SPDX-License-Identifier: BSD-3-Clause
// The chunks of each zone: loads their headers on first use, finds the object at an offset, and
// prepares chunks for a use.
//
// ZONE-1 A chunk's use in memory is what its header says, with two exceptions that a later header
//    write settles: a span whose first fragment is free counts as free chunks, and so does a
//    span_body that no live span covers. So freeing a span is the write of one object header.
// ZONE-2 A chunk that changes its use gets a new generation, so no old bytes in it can be taken for
//    a live header.
// ZONE-3 Headers of a span's bodies are written before its head; the head makes the span.
// ZONE-4 Slots at or beyond a run's mark have no owner, but count for parity. Their headers are
//    durable, with their parity, before a step raises the mark. So a crash in between leaves the
//    mark, and columns that recovery repairs (step_engine::prewrite); the slots are formatted again
//    when they are needed.
//
// On ZONE-4: if steps wait for transactions (PEND-1), the headers are in the record that raises the
// mark.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/byte_buffer.hpp"
#include "base/locks/waiting.hpp"
#include "core/heap/chunk_record.hpp"
#include "core/heap/object.hpp"
#include "core/heap/pending_steps.hpp"
#include "core/heap/size_classes.hpp"
#include "core/heap/step_engine.hpp"
#include "core/shared/state.hpp"

namespace scute::core::heap {

struct release_chunks {
  uint32_t count = 0;
  void operator()(chunk_record* p) const noexcept;
};

struct zone {
  std::atomic<bool> loaded{false};
  waiting_mutex load_mutex;
  std::unique_ptr<chunk_record[], release_chunks> chunks;
  std::atomic<uint32_t> high_water{0};
  // With zone_table::chunk_mutex.
  uint32_t prepared =
      0;  // chunks that the heap gives out: those below high_water, and pending ones (PEND-2)
  uint32_t log_chunks = 0;
  std::atomic<uint32_t> available{0};  // free and virgin chunks
  uint32_t search_from = 0;            // no available chunk below
};

class zone_table {
 public:
  explicit zone_table(pool::state& s);

  // Loads the zone on first use; any thread.
  zone& get(uint64_t z) {
    if (!zones_[z].loaded.load(std::memory_order_acquire)) [[unlikely]]
      load_once(z);
    return zones_[z];
  }
  uint64_t count() const noexcept { return zones_.size(); }
  bool is_loaded(uint64_t z) const noexcept {
    return zones_[z].loaded.load(std::memory_order_acquire);
  }

  // The object whose payload begins at this file offset. Throws SCUTE_E_OID if none can: outside
  // the zones, between slots, in a chunk of another use. Does not say whether the object is live.
  object locate(uint64_t payload_offset);
  // The same for a slot of one fragment in a zone that is loaded, in a few instructions. Returns
  // false if there is none.
  bool locate_small(uint64_t payload_offset, object& o) noexcept {
    const auto& g = s_.geo;
    const uint64_t zi = pool::zone_of(g, payload_offset);
    if (zi >= zones_.size() || !is_loaded(zi)) return false;
    // An offset before the zones or their chunks wraps to one beyond the last chunk.
    const uint64_t inside = payload_offset - format::header_size - g.zone_offset(zi) - g.chunk_base;
    if (inside >= uint64_t{g.chunks} << g.chunk_shift) return false;
    chunk_record& c = zones_[zi].chunks[inside >> g.chunk_shift];
    if (c.kind.load(std::memory_order_acquire) != use::run) return false;
    const uint64_t size = c.slot_size, in_chunk = inside & (g.chunk_size - 1);
    const uint32_t slot = c.slot_of(in_chunk);
    if (size > format::header_size + format::fragment_payload || slot * size != in_chunk ||
        slot >= c.formatted.load(std::memory_order_acquire))
      return false;
    o.header = payload_offset - format::header_size;
    o.payload = payload_offset;
    o.room = size - format::header_size;
    o.chunk = &c;
    o.slot = slot;
    return true;
  }
  object slot_object(chunk_record& c, uint32_t slot) const noexcept {
    const uint64_t size = c.slot_size;
    // The bound matters only to a reader whose chunk is being put to another use under its eyes.
    const uint64_t inside = std::min(slot * size, s_.geo.chunk_size - size);
    return {pool::object_place::at(offset_of(c) + inside, size), &c, slot};
  }
  object span_object(chunk_record& c) const noexcept;

  // A copy of an object's first header, not torn by a commit of another thread.
  format::fragment_header read_header(const object& o);

  // Guards changes of chunks' uses; taken before a chunk's own lock.
  waiting_mutex chunk_mutex;

  // Whether steps wait for a transaction, which takes them along (PEND-1).
  bool any_pending() const noexcept { return pending_.any.load(std::memory_order_acquire); }
  // Makes these steps durable now. Any thread that takes nothing along and has no stripe; in the
  // lane, with nothing planned in it.
  void make_pending(pool::lane& l, step_engine& e);
  bool is_excess(uint64_t objects);

  // ---- functions that change headers ------------------------------------------------------------

  // Prepares chunk headers until `chunk` is below the high-water mark: 0, or an errno if the file
  // system has no room for the chunks; the mark may have risen part of the way.
  int extend(pool::lane& l, step_engine& e, uint64_t z, uint32_t chunk) SCUTE_REQUIRES(chunk_mutex);
  // Gives a chunk new content: a run of slots with the first of them, at most format::slots_first,
  // formatted.
  void make_run(pool::lane& l, step_engine& e, chunk_record& c, uint32_t slot_size)
      SCUTE_REQUIRES(chunk_mutex);
  // Formats up to `count` further slots of a run (ZONE-4).
  void format_slots(pool::lane& l, step_engine& e, chunk_record& c, uint32_t count)
      SCUTE_REQUIRES(chunk_mutex);
  // How many slots of a size to format at once. In a file with a page cache, where writing a page
  // costs more than its lines: the slots of one page.
  uint32_t slots_ahead(uint32_t slot_size) const noexcept {
    return s_.medium->what() == medium::kind::file
               ? std::max(format::slots_first, uint32_t{format::page} / slot_size)
               : format::slots_ahead_max(slot_size);
  }
  void make_span(pool::lane& l, step_engine& e, chunk_record& head, uint32_t length)
      SCUTE_REQUIRES(chunk_mutex);
  // A span that is given back is not pending any more.
  void forget_span(chunk_record& head) noexcept SCUTE_REQUIRES(chunk_mutex);
  // Marks a chunk as lent to a log, as free again, or as free on the medium as it is in memory.
  enum class lending { out, back, not_yet };
  void make_log(pool::lane& l, step_engine& e, chunk_record& c, lending how)
      SCUTE_REQUIRES(chunk_mutex);

  uint64_t offset_of(const chunk_record& c) const noexcept {
    return s_.geo.chunk_offset(c.zone, c.index);
  }

 private:
  friend class taking_along;

  void load_once(uint64_t z);
  int reserve(uint64_t z, uint32_t from, uint32_t to) const;
  void load(uint64_t z);
  [[noreturn]] void nowhere(uint64_t payload_offset, const char* why) const;
  void adopt(zone& z, uint64_t index, uint32_t i, const format::chunk_header& h);
  format::chunk_header header_for(const pool::lane& l, const chunk_record& c,
                                  format::chunk_kind kind, uint16_t generation, uint32_t slot_size,
                                  uint32_t formatted, uint32_t length) const;
  format::zone_descriptor descriptor_for(const pool::lane& l, uint64_t z, uint32_t high_water,
                                         uint32_t log_chunks) const;
  void become_run(chunk_record& c, uint16_t generation, uint32_t slot_size,
                  uint32_t formatted) const;

  bool pends(const step_engine& e) const noexcept { return !s_.foreign && e.takes_steps_along(); }
  void pend_chunks(uint64_t z, uint32_t to) SCUTE_REQUIRES(chunk_mutex);
  void pend_run(chunk_record& c, uint16_t generation, uint32_t slot_size, uint32_t slots)
      SCUTE_REQUIRES(chunk_mutex);
  void pend_span(chunk_record& head, uint32_t length) SCUTE_REQUIRES(chunk_mutex);
  void pend_slots(pool::lane& l, step_engine& e, chunk_record& c, uint32_t to)
      SCUTE_REQUIRES(chunk_mutex);
  enum class uses_come : bool { later, along };
  void add_chunk_headers(const pool::lane& l, uint64_t z, uint32_t from, uint32_t to,
                         uses_come come) SCUTE_REQUIRES(pending_.mutex);
  void add_slots(const pool::lane& l, chunk_record& c, uint32_t from, uint32_t to,
                 std::span<const uint64_t> but) SCUTE_REQUIRES(pending_.mutex);
  void add_span_bodies(const pool::lane& l, const chunk_record& head, uint32_t from, uint32_t to)
      SCUTE_REQUIRES(pending_.mutex);
  void add_span_head(const pool::lane& l, chunk_record& head, std::span<const uint64_t> but)
      SCUTE_REQUIRES(pending_.mutex);
  void span_is_made(chunk_record& head) noexcept SCUTE_REQUIRES(pending_.mutex);
  void step_pending(pool::lane& l, step_engine& e) SCUTE_REQUIRES(pending_.mutex);

  static constexpr uint32_t dense_slot = 64;

  byte_buffer image_ SCUTE_GUARDED_BY(chunk_mutex);  // of slots that are being formatted
  std::vector<pool::patch> prewritten_ SCUTE_GUARDED_BY(chunk_mutex);
  pending_steps pending_;

  pool::state& s_;
  std::vector<zone> zones_;  // as many as the pool has; never changes
};

}  // namespace scute::core::heap
