// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout/foreign.hpp"

#include <string>

#include "base/failure.hpp"
#include "base/rounding.hpp"
#include "codec/parity/reed_solomon.hpp"
#include "core/layout/foreign_limits.hpp"

namespace scute::core::pool {
namespace {

// FOREIGN-1
constexpr uint32_t unit = (format::fragment_payload + format::header_size) / format::header_size;
constexpr uint32_t unit_payload = unit - 1;
static_assert(unit == 129);
constexpr uint32_t rows_default = 100, lanes_default = 4, rows_max = 1000;
// Chunks that are free for logs, and bytes of them.
constexpr uint32_t spare_chunks = 4;
constexpr uint64_t spare_bytes = 256 * kib;

constexpr uint64_t divide_up(uint64_t a, uint64_t b) noexcept {
  return (a + b - 1) / b;
}

// See choose_geometry().
constexpr uint64_t odd_pages(uint64_t bytes) noexcept {
  const uint64_t pages = divide_up(bytes, format::page);
  return (pages | 1) * format::page;
}

}  // namespace

uint64_t foreign_zone_bytes = zone_max - zone_max / 16;

foreign_layout read_foreign(const format::superblock& sb, const geometry& g) {
  const auto bad = [](const char* what) {
    throw failure(SCUTE_E_CORRUPT,
                  std::string("the superblock of this foreign pool is inconsistent (") + what +
                      "); make a new one with `scute shield adopt`");
  };
  const format::foreign_record& r = sb.foreign;
  if (r.chunks == 0 || r.chunks % unit != 0) bad("length of its spans");
  if (r.first > g.chunks || r.chunks > g.chunks - r.first) bad("place of its spans");
  if (r.share != (uint64_t{r.chunks / unit} * unit_payload) << g.chunk_shift)
    bad("share of a zone");
  foreign_layout l;
  l.share = r.share;
  l.first = r.first;
  l.chunks = r.chunks;
  l.header_chunks = r.chunks / unit;
  if (r.size == 0 || r.size > l.capacity(g)) bad("size of the file");
  if (r.growth != 0 && (r.growth < r.size || r.growth > l.capacity(g))) bad("growth of the file");
  if (r.guard != 0 && (r.guard & ~0777U) != format::guard_mark) bad("permissions of the file");
  return l;
}

foreign_plan plan_foreign(const scute_options& o, uint64_t size, uint64_t capacity,
                          uint32_t log_chunks) {
  require_choices(o);
  if (size == 0) throw failure(SCUTE_E_RANGE, "an empty file has nothing to protect");
  if (capacity == 0) capacity = size + std::max(size / 4, mib);
  if (capacity < size)
    throw failure(SCUTE_E_RANGE,
                  "the file is larger than the requested capacity; choose at least " +
                      std::to_string(size) + " bytes");
  if (capacity > SCUTE_SIZE_MAX / 2)
    throw failure(SCUTE_E_RANGE, "the capacity is outside the limits; choose 32 TiB at most");
  foreign_plan plan;
  geometry& g = plan.geo;
  g.parity = o.parity != 0 ? o.parity : level_of(o) >= SCUTE_PROTECT_MLP ? 1 : 0;
  g.lane_replicas = level_of(o) >= SCUTE_PROTECT_ML ? 2 : 1;
  g.lane_count = o.lanes != 0 ? o.lanes : lanes_default;
  g.lane_size = lane_size_for(capacity);
  g.lanes_offset = 2 * format::page;
  g.zones_offset = g.lanes_offset + g.lane_size * g.lane_count * g.lane_replicas;
  g.chunk_size = o.chunk_size != 0       ? o.chunk_size
                 : capacity >= 128 * mib ? static_cast<uint32_t>(256 * kib)
                 : capacity >= 16 * mib  ? static_cast<uint32_t>(64 * kib)
                                         : static_cast<uint32_t>(16 * kib);
  const uint64_t chunk = g.chunk_size, payload = unit_payload * chunk;
  // Few rows with several parities make large zones, whose parities have to fit as well.
  const uint64_t rows = o.rows != 0 ? o.rows : rows_default;
  const uint64_t zone_bytes =
      std::min(foreign_zone_bytes, foreign_zone_bytes * 2 * rows / (rows + g.parity));
  g.zone_count = static_cast<uint32_t>(divide_up(capacity, zone_bytes));
  const uint64_t units = divide_up(divide_up(capacity, g.zone_count), payload);
  format::foreign_record& r = plan.record;
  r.size = size;
  r.share = units * payload;
  r.chunks = static_cast<uint32_t>(units) * unit;
  r.first = std::max(spare_chunks, static_cast<uint32_t>(spare_bytes / chunk)) + log_chunks;
  r.rows = o.rows != 0 ? o.rows : rows_default;
  const uint64_t all = uint64_t{r.first} + r.chunks;
  // Tables for a few more chunks, which rounding of the rows may make.
  const auto with_table = [&](uint64_t chunks) {
    return format::chunk_table_offset + round_up((all + all / 16 + 64) * 64, format::page) +
           chunks * chunk;
  };
  const uint64_t needed = with_table(all);
  if (g.zone_count == 1) {
    const uint64_t used = with_table(r.first + units + divide_up(size, chunk));
    const uint32_t most = g.parity > 1 ? codec::reed_solomon::rows_max : rows_max;
    g.row_size = odd_pages(divide_up(std::min(used, needed), r.rows));
    if (divide_up(needed, g.row_size) > most) g.row_size = odd_pages(divide_up(needed, most));
    g.rows = static_cast<uint32_t>(divide_up(needed, g.row_size));
  } else {
    g.rows = r.rows;
    g.row_size = odd_pages(divide_up(needed, g.rows));
  }
  g.zone_size = (uint64_t{g.rows} + g.parity) * g.row_size;
  g.file_size = round_up(g.zones_end() + format::page, format::page);
  derive(g);
  SCUTE_ASSERT(all <= g.chunks);
  return plan;
}

}  // namespace scute::core::pool
