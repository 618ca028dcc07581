// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/place.hpp"

#include "testing/pool/image_geometry.hpp"

namespace scute::testing {

std::string place_of(std::span<const std::byte> image, uint64_t offset) {
  const auto geometry = geometry_of(image);
  const auto plus = [](const char* what, uint64_t n) {
    return std::string(what) + " +" + std::to_string(n);
  };
  if (!geometry) return plus("offset", offset);
  const pool::geometry& g = *geometry;
  for (unsigned i = 0; i < 3; ++i) {
    const uint64_t at = g.superblock_offset(i);
    if (offset >= at && offset - at < format::page)
      return "superblock copy " + std::to_string(i) + " +" + std::to_string(offset - at);
  }
  if (offset >= g.lanes_offset &&
      offset < g.lanes_offset + g.lane_size * g.lane_count * g.lane_replicas) {
    const uint64_t number = (offset - g.lanes_offset) / g.lane_size;
    const uint64_t inside = (offset - g.lanes_offset) % g.lane_size;
    const std::string lane = "lane " + std::to_string(number % g.lane_count) + ", replica " +
                             std::to_string(number / g.lane_count) + ", ";
    if (inside < format::lane_log_offset) return lane + plus("status line", inside);
    if (inside < format::lane_undo_offset(g.lane_size)) return lane + plus("log", inside);
    return lane + plus("undo area", inside - format::lane_undo_offset(g.lane_size));
  }
  if (offset < g.zones_offset || offset >= g.zones_end()) return plus("unused space", offset);
  const uint64_t zone = pool::zone_of(g, offset);
  const uint64_t inside = offset - g.zone_offset(zone);
  const std::string in_zone = g.zone_count > 1 ? "zone " + std::to_string(zone) + ", " : "";
  if (inside >= g.data_size) return in_zone + plus("parity, column", inside - g.data_size);
  if (inside < format::zone_anchor_offset) return in_zone + plus("zone descriptor", inside);
  if (inside < format::chunk_table_offset)
    return in_zone + plus("root anchor", inside - format::zone_anchor_offset);
  if (inside < g.chunk_base) {
    const uint64_t at = inside - format::chunk_table_offset;
    return in_zone + "header of chunk " + std::to_string(at / sizeof(format::chunk_header)) + " +" +
           std::to_string(at % sizeof(format::chunk_header));
  }
  const uint64_t in_chunks = inside - g.chunk_base;
  return in_zone + "chunk " + std::to_string(in_chunks >> g.chunk_shift) + " +" +
         std::to_string(in_chunks & (g.chunk_size - 1));
}

}  // namespace scute::testing
