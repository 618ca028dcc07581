// SPDX-License-Identifier: BSD-3-Clause
// The places of things in a pool file, by docs/reference/format.md: for steps that damage them
// without the library's knowledge, and for objects that are to meet in one column.
#pragma once

#include <scute/testing.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scute::explore {

inline constexpr uint64_t page = 4096, header_size = 32, lane_ring = 64;

// The fields of the superblock. The pool has one zone.
struct layout {
  explicit layout(std::span<const std::byte> file);
  explicit layout(const testing::stage& at) : layout(at.bytes()) {}

  uint64_t superblock(unsigned copy) const { return copy == 2 ? size - page : copy * page; }
  uint64_t lane(uint64_t number, uint64_t replica = 0) const {
    return lanes + (replica * lane_count + number) * lane_size;
  }
  // The entries of the ring begin at lane_ring; the undo area takes the last quarter.
  uint64_t ring_size() const { return lane_size * 3 / 4 - lane_ring; }
  uint64_t chunk_header(uint64_t i) const { return zone + page + 64 * i; }
  uint64_t parity(uint64_t p) const { return zone + (rows + p) * row_size; }
  uint64_t zone_end() const { return parity(parities); }
  uint64_t chunk(uint64_t i) const { return chunks + i * chunk_size; }

  uint64_t size, lanes, lane_size, lane_count, zone, row_size, rows, parities, chunks, chunk_size,
      chunk_count;
};

inline constexpr uint64_t chunk_kind = 32;  // in a chunk header
inline constexpr std::byte kind_log{4};

// The bytes of an open pool themselves, to be injured in a setup, where the power stays on.
std::span<std::byte> file_of(const scute::pool& p);

std::vector<std::byte> copy_of(const testing::stage& at, uint64_t offset, uint64_t n);
void scribble(const testing::stage& at, uint64_t offset, uint64_t n, unsigned fill);
// A misplaced write: what belongs at `from` lands at `to`.
void misplace(const testing::stage& at, uint64_t from, uint64_t to, uint64_t n);

// Offsets in two objects of this size, the first one before the second one in the file, from which
// on n bytes lie in the same columns but in different rows. Throws if there are none.
struct column_meeting {
  column_meeting(uint64_t row_size, uint64_t first, uint64_t second, uint64_t object_size,
                 uint64_t n);
  uint64_t in_first, in_second;
};

}  // namespace scute::explore
