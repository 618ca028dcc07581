// SPDX-License-Identifier: BSD-3-Clause
// Shared by the parts of zone_table that change headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/checksum/crc32c.hpp"
#include "core/heap/object.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/lane.hpp"

namespace scute::core::heap {

// Never returns 0, the generation of chunks that were never used (HEAP-3).
constexpr uint16_t next_generation(uint16_t g) noexcept {
  return g == UINT16_MAX ? uint16_t{1} : static_cast<uint16_t>(g + 1);
}

constexpr pool::patch metadata_patch(uint64_t offset, const void* src, uint32_t n) noexcept {
  return {offset, src, n, medium::purpose::metadata};
}

// Makes the headers of `count` free slots of a run, beginning with `first`, and calls put(i,
// header). They differ only in their places.
template <typename Put>
void seal_free_slots(const pool::state& s, const pool::lane& l, const object& first, uint32_t count,
                     Put&& put) {
  format::fragment_header h{};
  h.meta = format::make_meta(0, format::role::free, first.chunk->generation);
  pool::seal(s, l, first.fragment(0), h, nullptr, 0);
  // A slot's place is the last word under its checksum.
  static_assert(offsetof(format::fragment_header, next) + sizeof h.next == sizeof h);
  const uint32_t before = codec::crc32c(0, &h.type, format::header_tail - sizeof h.next);
  [[maybe_unused]] const uint32_t checksum = h.checksum;
  for (uint32_t i = 0; i < count; ++i) {
    h.next = first.header + uint64_t{i} * first.chunk->slot_size;
    h.checksum = pool::bind(codec::crc32c(before, &h.next, sizeof h.next), h.next);
    SCUTE_ASSERT(i != 0 || h.checksum == checksum);
    put(i, h);
  }
}

}  // namespace scute::core::heap
