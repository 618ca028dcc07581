// SPDX-License-Identifier: BSD-3-Clause
// Chunks that become runs, and slots that are formatted.
#include <cstring>

#include "core/heap/header_change.hpp"
#include "core/heap/zone_table.hpp"

namespace scute::core::heap {

using format::chunk_kind;

// The step that makes a run also has its first slots: a crash leaves all of it or nothing.
void zone_table::make_run(pool::lane& l, step_engine& e, chunk_record& c, uint32_t slot_size) {
  const auto generation = next_generation(c.generation);
  const uint32_t count = std::min(format::slots_first, s_.geo.chunk_size / slot_size);
  if (pends(e)) return pend_run(c, generation, slot_size, count);
  // Until the step is durable other threads see the chunk as it was.
  chunk_record next{};
  next.index = c.index;
  next.zone = c.zone;
  next.generation = generation;
  next.slot_size = slot_size;
  const auto h = header_for(l, c, chunk_kind::run, generation, slot_size, count, 1);
  format::fragment_header headers[format::slots_first];
  pool::patch patches[format::slots_first + 1];
  patches[0] = metadata_patch(s_.geo.chunk_header_offset(c.zone, c.index), &h, sizeof h);
  seal_free_slots(s_, l, slot_object(next, 0), count,
                  [&](uint32_t i, const format::fragment_header& sealed) {
                    headers[i] = sealed;
                    patches[i + 1] = metadata_patch(sealed.next, &headers[i], sizeof headers[i]);
                  });
  e.step(l, {patches, count + 1});
  become_run(c, generation, slot_size, count);
}

// ZONE-4
void zone_table::format_slots(pool::lane& l, step_engine& e, chunk_record& c, uint32_t count) {
  const uint32_t from = c.prepared.load(std::memory_order_relaxed), size = c.slot_size;
  const uint32_t to = std::min(from + count, c.slots);
  if (pends(e)) return pend_slots(l, e, c, to);
  const object first = slot_object(c, from);
  // If every line has a header whole blocks are written. That costs little compared with so many
  // headers, and no more bytes than a log of them would.
  const bool whole = size == dense_slot;
  const uint64_t n = to - from, room = whole ? n * size : n * format::header_size;
  image_.clear();
  std::byte* image = image_.extend(room);
  prewritten_.clear();
  if (whole) std::memset(image, 0, room);
  seal_free_slots(s_, l, first, to - from, [&](uint32_t i, const format::fragment_header& sealed) {
    std::byte* at = image + uint64_t{i} * (whole ? size : format::header_size);
    std::memcpy(at, &sealed, sizeof sealed);
  });
  for (uint64_t i = 0; i < n && !whole; ++i)
    prewritten_.push_back(metadata_patch(first.header + i * size, image + i * format::header_size,
                                         format::header_size));
  if (whole)
    prewritten_.push_back(metadata_patch(first.header, image, static_cast<uint32_t>(room)));
  const auto h = header_for(l, c, chunk_kind::run, c.generation, size, to, 1);
  const auto mark = metadata_patch(s_.geo.chunk_header_offset(c.zone, c.index), &h, sizeof h);
  e.prewrite(l, prewritten_);
  e.step(l, {&mark, 1});
  c.prepared.store(to, std::memory_order_relaxed);
  c.formatted.store(to, std::memory_order_release);
}

}  // namespace scute::core::heap
