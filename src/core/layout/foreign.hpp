// SPDX-License-Identifier: BSD-3-Clause
// Foreign pools: the pool that protects a file of another program, FILE, and lies next to it, in
// FILE.scute. It is a pool like any other, except that its medium consists of two files
// (core/medium/composition.hpp). In each zone one span has the same place, and its payload is a
// part of FILE. So fragments are FILE's pages, while headers, parity and logs are in FILE.scute.
// Everything that handles pools handles it.
//
//   zone   chunk table, free chunks for logs | span | parity
//   span   headers (1/129 of it), payload = `share` bytes of FILE
//
// FOREIGN-1 A span has 129 chunks, or twice as many, and so on: of 129 chunks, one holds the
//    headers of the other 128, exactly. So its payload begins at a chunk, and each fragment is a
//    page of FILE.
// FOREIGN-2 From the span on, no chunk of a zone is free, whatever the headers say: only the span's
//    payload is FILE, and no other object may have a byte of it.
// FOREIGN-3 Chunks of the span that FILE does not reach are virgin: beyond the zone's high-water
//    mark, without blocks, and never read. So room to grow costs only headers.
// FOREIGN-4 The sizes of the spans' objects say how much of FILE is covered: the first zones have
//    their full share, one has the rest, and the later ones have one byte, a zero that is in no
//    file. A growth is one step for each zone, in this order, so that the covered bytes are always
//    a beginning of FILE, without gaps.
#pragma once

#include "core/layout/geometry.hpp"
#include "core/medium/composition.hpp"

namespace scute::core::pool {

struct foreign_layout {
  uint64_t share = 0;
  uint32_t first = 0, chunks = 0, header_chunks = 0;

  uint64_t capacity(const geometry& g) const noexcept { return share * g.zone_count; }
  uint64_t span_offset(const geometry& g, uint64_t zone) const noexcept {
    return g.chunk_offset(zone, first);
  }
  uint64_t span_size(const geometry& g) const noexcept { return uint64_t{chunks} << g.chunk_shift; }
  uint64_t payload_offset(const geometry& g, uint64_t zone) const noexcept {
    return g.chunk_offset(zone, first + header_chunks);
  }
  // The part of a file of `size` bytes in zone z, and the size of its object.
  uint64_t covered(uint64_t z, uint64_t size) const noexcept {
    const uint64_t before = z * share;
    return size <= before ? 0 : std::min(share, size - before);
  }
  uint64_t object_size(uint64_t z, uint64_t size) const noexcept {
    return std::max<uint64_t>(1, covered(z, size));
  }
  // The chunks in use in zone z for such a file (FOREIGN-3).
  uint32_t high_water(const geometry& g, uint64_t z, uint64_t size) const noexcept {
    const uint64_t used = (object_size(z, size) + g.chunk_size - 1) >> g.chunk_shift;
    return first + header_chunks + static_cast<uint32_t>(used);
  }
  medium::segments segments(const geometry& g) const noexcept {
    return {payload_offset(g, 0), g.zone_size, share, g.zone_count};
  }
};

// Rebuilds and tests what a superblock claims; throws failure(SCUTE_E_CORRUPT) unless all spans lie
// in their zones.
foreign_layout read_foreign(const format::superblock& sb, const geometry& g);

struct foreign_plan {
  geometry geo;
  format::foreign_record record{};
};

// Plans a pool for a file of `size` bytes that may grow to `capacity`; 0: a quarter more. options:
// rows are those that the file fills (0: 100), room to grow adds further ones; lanes: 0 for 4.
// log_chunks: to be kept free for logs, besides a few. Throws failure(SCUTE_E_INVALID /
// SCUTE_E_RANGE).
foreign_plan plan_foreign(const scute_options& options, uint64_t size, uint64_t capacity,
                          uint32_t log_chunks);

}  // namespace scute::core::pool
