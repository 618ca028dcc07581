// SPDX-License-Identifier: BSD-3-Clause
// The layout of a pool file, and the arithmetic between file offsets, zones, rows and columns. Pure
// numbers; nothing here touches the file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout/engines.hpp"
#include "core/layout/format.hpp"
#include "scute/scute.h"

namespace scute::core::pool {

inline constexpr uint64_t kib = 1024, mib = kib * 1024, gib = mib * 1024;
inline constexpr uint64_t default_size = 64 * mib;  // of a new pool

struct geometry {
  uint64_t file_size = 0;
  uint64_t lanes_offset = 0, lane_size = 0;
  uint32_t lane_count = 0, lane_replicas = 0;
  uint64_t zones_offset = 0, zone_size = 0, row_size = 0;
  uint32_t zone_count = 0, rows = 0, parity = 0;
  uint32_t chunk_size = 0;
  // Derived:
  uint32_t chunk_shift = 0;
  uint32_t chunks = 0;      // per zone
  uint64_t chunk_base = 0;  // offset in the zone of chunk 0
  uint64_t data_size = 0;   // rows * row_size
  double row_inverse = 0;   // 1 / row_size

  uint64_t lane_offset(uint32_t lane, uint32_t replica) const noexcept {
    return lanes_offset + (uint64_t{replica} * lane_count + lane) * lane_size;
  }
  uint64_t zone_offset(uint64_t zone) const noexcept { return zones_offset + zone * zone_size; }
  uint64_t zones_end() const noexcept { return zones_offset + zone_count * zone_size; }
  uint64_t superblock_offset(unsigned copy) const noexcept {
    return copy == 0 ? 0 : copy == 1 ? format::page : file_size - format::page;
  }
  uint64_t chunk_offset(uint64_t zone, uint64_t chunk) const noexcept {
    return zone_offset(zone) + chunk_base + (chunk << chunk_shift);
  }
  uint64_t chunk_header_offset(uint64_t zone, uint64_t chunk) const noexcept {
    return zone_offset(zone) + format::chunk_table_offset + chunk * sizeof(format::chunk_header);
  }
  // True if [offset, offset+n) lies in the data rows of one zone.
  bool in_data(uint64_t offset, uint64_t n) const noexcept {
    if (offset < zones_offset || offset >= zones_end()) return false;
    uint64_t inside = offset - zones_offset;
    if (inside >= zone_size) inside %= zone_size;  // most pools have one zone: no division for them
    return inside < data_size && n <= data_size - inside;
  }
};

// The place of a byte of a zone's data rows.
struct cell {
  uint64_t zone, row, column;
};

inline uint64_t zone_of(const geometry& g, uint64_t offset) noexcept {
  // Nearly every pool has one zone or a handful; the common case costs no division.
  const uint64_t inside = offset - g.zones_offset;
  return inside < g.zone_size ? 0 : inside / g.zone_size;  // NOLINT(clang-analyzer-core.DivideZero)
}

inline cell cell_of(const geometry& g, uint64_t offset) noexcept {
  const uint64_t zone = zone_of(g, offset);
  const uint64_t inside = offset - g.zone_offset(zone);
  // A multiplication instead of a division, which would be a good part of a small commit. The
  // product is off by less than one row (offsets in a zone stay below 2^36), in either direction.
  auto row = static_cast<uint64_t>(static_cast<double>(inside) * g.row_inverse);
  auto column = static_cast<int64_t>(inside - row * g.row_size);
  if (column < 0) {
    --row;
    column += static_cast<int64_t>(g.row_size);
  } else if (column >= static_cast<int64_t>(g.row_size)) {
    ++row;
    column -= static_cast<int64_t>(g.row_size);
  }
  return {zone, row, static_cast<uint64_t>(column)};
}

// The engine of a new pool; on_disk: its log would have a file of its own. Throws
// failure(SCUTE_E_INVALID) if it cannot have the requested one.
const engine_facts& choose_engine(const scute_options& options, bool on_disk);

// The most bytes of a zone that choose_geometry() makes, with all of its parity rows.
inline constexpr uint64_t zone_max = uint64_t{16} << 30;
// Checks the requested options for a new pool that do not depend on its size: throws
// failure(SCUTE_E_INVALID) if they do not fit together.
void require_choices(const scute_options& options);
// The size of one replica of one lane, in a pool of that size.
uint64_t lane_size_for(uint64_t size) noexcept;
// Computes the derived members from the others.
void derive(geometry& g) noexcept;

// Chooses the geometry of a new pool; throws failure(SCUTE_E_INVALID / SCUTE_E_RANGE) with the
// reason when the requested options do not fit together.
geometry choose_geometry(const scute_options& options);

// Rebuilds and tests the geometry that a superblock claims; throws failure(SCUTE_E_CORRUPT) unless
// every part lies inside the file, in order and without overlap.
geometry read_geometry(const format::superblock& sb);

}  // namespace scute::core::pool
