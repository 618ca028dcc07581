// SPDX-License-Identifier: BSD-3-Clause
// Foreign pools: the pool that protects a file of another program, FILE, and lies next to it, in
// FILE.scute. It is a pool as any other, except for its medium, which is of two files
// (medium/composition.hpp): in each zone one span has the same place, and its payload is a part of
// FILE. So fragments are FILE's pages, headers, parity and logs are in FILE.scute, and everything
// that works on pools works on it.
//
//   zone   chunk table, free chunks for logs | span | parity
//   span   headers (1/129 of it), payload = `share` bytes of FILE
//
// FOREIGN-1 A span has 129 chunks, or twice as many, and so on: 129 chunks hold the headers of 128,
//    exactly. So its payload begins at a chunk, and each fragment is a page of FILE.
// FOREIGN-2 From the span on no chunk of a zone is free, whatever the headers say: nothing but the
//           span's payload is FILE, and no other object may have a byte of it.
// FOREIGN-3 Chunks of the span that FILE does not reach are virgin: they are beyond the zone's
//    high-water mark, so they have no blocks, and are not read. So room to grow costs nothing but
//    headers.
// FOREIGN-4 The spans' objects say how much of FILE is covered: those of the first zones have their
//    share, one the rest, and those after it one byte, a zero that is in no file of the user's.
//    Growing is one step for each zone, in this order, so that what is covered is always the
//    beginning of FILE.
#pragma once

#include "medium/composition.hpp"
#include "pool/geometry.hpp"

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
  // Chunks in use in zone z then (FOREIGN-3).
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

// For a file of `size` bytes, and room for it to grow to `capacity`; 0: a quarter more. options:
// rows are those that the file fills (0: 100), room to grow makes further ones; lanes: 0 for 4.
// log_chunks: to be free for logs, besides a few. Throws failure(SCUTE_E_INVALID / SCUTE_E_RANGE).
foreign_plan plan_foreign(const scute_options& options, uint64_t size, uint64_t capacity,
                          uint32_t log_chunks);

}  // namespace scute::core::pool
