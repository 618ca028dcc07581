// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/regions.hpp"

#include "core/shared/pool/foreign_parts.hpp"

namespace scute::core::heap {
namespace {

class region_map {
 public:
  // The bytes up to `end` belong to that region.
  void until(uint64_t end, scute_region region) {
    if (end <= at_) return;
    if (!ranges_.empty() && ranges_.back().region == region)
      ranges_.back().length += end - at_;
    else
      ranges_.push_back({region, at_, end - at_});
    at_ = end;
  }
  std::vector<region_range> take() { return std::move(ranges_); }

 private:
  uint64_t at_ = 0;
  std::vector<region_range> ranges_;
};

void superblock_page(region_map& to, uint64_t offset) {
  to.until(offset, SCUTE_REGION_PADDING);
  to.until(offset + sizeof(format::superblock), SCUTE_REGION_SUPERBLOCK);
  to.until(offset + format::page, SCUTE_REGION_NOTES);
}

void foreign_span(region_map& to, const pool::foreign_parts& p, uint64_t end) {
  to.until(p.headers_end, SCUTE_REGION_OBJECT);
  to.until(p.payload, SCUTE_REGION_FREE);
  to.until(p.payload_end, SCUTE_REGION_OBJECT);
  to.until(end, SCUTE_REGION_FREE);
}

void chunks(region_map& to, const pool::state& s, uint64_t z, zone& zn) {
  const pool::geometry& g = s.geo;
  const uint32_t high = zn.high_water.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < high; ++i) {
    const chunk_record& c = zn.chunks[i];
    const uint64_t begin = g.chunk_offset(z, i), end = begin + g.chunk_size;
    switch (c.kind.load(std::memory_order_acquire)) {
      case use::run:
        to.until(begin + uint64_t{c.formatted.load()} * c.slot_size, SCUTE_REGION_OBJECT);
        to.until(end, SCUTE_REGION_FREE);
        break;
      case use::span:
      case use::span_body:
        if (s.foreign && i >= s.foreign->first)
          return foreign_span(to, pool::foreign_parts_of(s, z), g.chunk_offset(z, high));
        to.until(end, SCUTE_REGION_OBJECT);
        break;
      case use::log: to.until(end, SCUTE_REGION_LOG); break;
      case use::virgin:
      case use::free:
      case use::pending_span:
      case use::lost: to.until(end, SCUTE_REGION_FREE); break;
    }
  }
}

}  // namespace

std::vector<region_range> map_regions(const pool::state& s, zone_table& zones) {
  const auto& g = s.geo;
  region_map to;
  superblock_page(to, g.superblock_offset(0));
  superblock_page(to, g.superblock_offset(1));
  to.until(g.zones_offset, SCUTE_REGION_LANE);
  for (uint64_t z = 0; z < g.zone_count; ++z) {
    const uint64_t zone = g.zone_offset(z);
    to.until(zone + format::chunk_table_offset, SCUTE_REGION_ZONE_HEADER);
    to.until(g.chunk_header_offset(z, g.chunks), SCUTE_REGION_CHUNK_HEADER);
    to.until(zone + g.chunk_base, SCUTE_REGION_PADDING);
    chunks(to, s, z, zones.get(z));
    to.until(zone + g.data_size, SCUTE_REGION_FREE);
    to.until(zone + g.zone_size, SCUTE_REGION_PARITY);
  }
  superblock_page(to, g.superblock_offset(2));
  return to.take();
}

}  // namespace scute::core::heap
