// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout/geometry.hpp"

#include <string>

#include "base/failure.hpp"
#include "base/rounding.hpp"
#include "codec/parity/reed_solomon.hpp"

namespace scute::core::pool {
namespace {

constexpr uint32_t rows_max_of_several_parities = codec::reed_solomon::rows_max;
// rows shorter than this make parity expensive and columns few
constexpr uint64_t row_wanted = mib;

constexpr bool power_of_two(uint64_t n) noexcept {
  return n != 0 && (n & (n - 1)) == 0;
}

[[noreturn]] void refuse(const std::string& why) {
  throw failure(SCUTE_E_INVALID, why);
}

}  // namespace

void derive(geometry& g) noexcept {
  g.chunk_shift = static_cast<uint32_t>(std::countr_zero(g.chunk_size));
  g.data_size = g.rows * g.row_size;
  g.row_inverse = 1.0 / static_cast<double>(g.row_size);
  if (g.data_size < format::page * 2) return;
  uint64_t n = (g.data_size - format::chunk_table_offset) / (g.chunk_size + uint64_t{64});
  for (;; --n) {
    g.chunk_base = round_up(format::chunk_table_offset + n * 64, format::page);
    if (g.chunk_base + n * g.chunk_size <= g.data_size || n == 0) break;
  }
  g.chunks = static_cast<uint32_t>(n);
}

const engine_facts& choose_engine(const scute_options& o, bool on_disk) {
  if (o.engine == SCUTE_ENGINE_AUTO) return automatic_engine(engines(), level_of(o), on_disk);
  const engine_facts* e = find_engine(static_cast<uint32_t>(o.engine));
  if (e == nullptr) {
    std::string names = "auto";
    for (const engine_facts& known : engines())
      names += (&known == &engines().back() ? " or " : ", ") + std::string(known.name);
    refuse("engine must be " + names);
  }
  if (level_of(o) < e->least)
    refuse("engine " + std::string(e->name) +
           (e->parity_is_log ? " needs parity and checksums, which are its log"
                             : " needs more protection") +
           "; choose protection mlpc, or engine " + engines().front().name);
  return *e;
}

void require_choices(const scute_options& o) {
  // It is not known yet whether the pool will be on a disk. The limits use the engine that
  // SCUTE_ENGINE_AUTO chooses elsewhere.
  const engine_facts& engine = choose_engine(o, false);
  if (o.protection < SCUTE_PROTECT_NONE || o.protection > SCUTE_PROTECT_AUTO)
    refuse("protection must be auto, none, ml, mlp or mlpc");
  if (o.checksum != SCUTE_CHECKSUM_CRC32C && o.checksum != SCUTE_CHECKSUM_ADLER32)
    refuse("checksum must be crc32c or adler32");
  const bool with_parity = level_of(o) >= SCUTE_PROTECT_MLP;
  if (o.parity > 4) refuse("parity must be between 1 and 4");
  if (o.parity != 0 && !with_parity) refuse("parity rows need protection mlp or mlpc");
  if (o.parity > engine.parities_max)
    refuse("several parity rows need engine logfree or spec; or set parity to 1");
  if (o.rows > 1000) refuse("rows must be between 1 and 1000");
  if (o.parity > 1 && o.rows > rows_max_of_several_parities)
    refuse(
        "with several parity rows there can be at most 251 data rows; choose fewer rows or one "
        "parity row");
  if (o.lanes > 255) refuse("lanes must be between 1 and 255");
  if (o.chunk_size != 0 &&
      (!power_of_two(o.chunk_size) || o.chunk_size < 16 * kib || o.chunk_size > 256 * kib))
    refuse("chunk-size must be a power of two from 16 KiB to 256 KiB");
}

uint64_t lane_size_for(uint64_t size) noexcept {
  return size >= gib         ? 256 * kib
         : size >= 256 * mib ? 64 * kib
         : size >= 64 * mib  ? 32 * kib
         : size >= 16 * mib  ? 8 * kib
                             : 4 * kib;
}

geometry choose_geometry(const scute_options& o) {
  if (o.size < SCUTE_SIZE_MIN || o.size > SCUTE_SIZE_MAX)
    throw failure(SCUTE_E_RANGE, "pool size " + std::to_string(o.size) +
                                     " is outside the limits; choose 256 KiB to 64 TiB");
  if (o.size % format::page != 0) refuse("pool size must be a multiple of 4096 bytes");
  require_choices(o);
  const bool with_parity = level_of(o) >= SCUTE_PROTECT_MLP;

  geometry g;
  g.file_size = o.size;
  g.lane_replicas = level_of(o) >= SCUTE_PROTECT_ML ? 2 : 1;
  g.lane_count = o.lanes != 0          ? o.lanes
                 : o.size >= 256 * mib ? 64
                 : o.size >= 16 * mib  ? 32
                 : o.size >= 4 * mib   ? 16
                 : o.size >= mib       ? 8
                                       : 4;
  g.lane_size = lane_size_for(o.size);
  g.chunk_size = o.chunk_size != 0    ? o.chunk_size
                 : o.size >= 32 * mib ? static_cast<uint32_t>(256 * kib)
                 : o.size >= 8 * mib  ? static_cast<uint32_t>(64 * kib)
                                      : static_cast<uint32_t>(16 * kib);

  g.lanes_offset = 2 * format::page;
  g.zones_offset = g.lanes_offset + g.lane_size * g.lane_count * g.lane_replicas;
  if (g.zones_offset + 17 * format::page > g.file_size)
    refuse("so many lanes leave no room for data; choose fewer lanes or a larger pool");
  const uint64_t area = g.file_size - format::page - g.zones_offset;
  g.zone_count = static_cast<uint32_t>((area + zone_max - 1) / zone_max);
  const uint64_t share = area / g.zone_count;
  g.parity = o.parity != 0 ? o.parity : with_parity ? 1 : 0;
  g.rows = o.rows != 0 ? o.rows
                       : static_cast<uint32_t>(std::clamp<uint64_t>(share / row_wanted, 4, 100));
  // An odd number of pages per row: cells of a column then differ by odd multiples of 4 KiB and
  // spread over the sets of a cache instead of fighting for one.
  uint64_t pages = share / (g.rows + g.parity) / format::page;
  if (pages % 2 == 0 && pages > 1) --pages;
  g.row_size = pages * format::page;
  g.zone_size = (g.rows + g.parity) * g.row_size;
  derive(g);
  if (g.chunks == 0)
    refuse(
        "rows and chunk size leave no room for a single chunk; choose fewer rows, smaller chunks "
        "or a larger pool");
  return g;
}

geometry read_geometry(const format::superblock& sb) {
  const auto bad = [](const char* what) {
    throw failure(SCUTE_E_CORRUPT, std::string("the superblock is inconsistent (") + what +
                                       "); restore the pool from a backup");
  };
  geometry g;
  g.file_size = sb.file_size;
  g.lanes_offset = sb.lanes_offset;
  g.lane_size = sb.lane_size;
  g.lane_count = sb.lane_count;
  g.lane_replicas = sb.lane_replicas;
  g.zones_offset = sb.zones_offset;
  g.zone_size = sb.zone_size;
  g.row_size = sb.row_size;
  g.zone_count = sb.zone_count;
  g.rows = sb.rows;
  g.parity = sb.parity;
  g.chunk_size = sb.chunk_size;
  // Every bound below keeps the products that follow it far from overflow.
  if (g.file_size < SCUTE_SIZE_MIN || g.file_size > SCUTE_SIZE_MAX || g.file_size % format::page)
    bad("size");
  if (g.lanes_offset != 2 * format::page) bad("lanes offset");
  if (g.lane_count < 1 || g.lane_count > 255) bad("lane count");
  if (g.lane_replicas < 1 || g.lane_replicas > 2) bad("lane replicas");
  if (g.lane_size < format::page || g.lane_size > 64 * mib || g.lane_size % format::page)
    bad("lane size");
  if (g.rows < 1 || g.rows > 1000) bad("rows");
  if (g.parity > 4 || (g.parity > 1 && g.rows > rows_max_of_several_parities)) bad("parity");
  if (!power_of_two(g.chunk_size) || g.chunk_size < 16 * kib || g.chunk_size > 256 * kib)
    bad("chunk size");
  if (g.zones_offset != g.lanes_offset + g.lane_size * g.lane_count * g.lane_replicas)
    bad("zones offset");
  if (g.row_size == 0 || g.row_size % format::page || g.row_size > zone_max) bad("row size");
  if (g.zone_size != (uint64_t{g.rows} + g.parity) * g.row_size || g.zone_size > 2 * zone_max)
    bad("zone size");
  if (g.zone_count < 1 || g.zone_count > g.file_size / g.zone_size) bad("zone count");
  if (g.zones_end() + format::page > g.file_size) bad("zones end");
  derive(g);
  if (g.chunks == 0) bad("chunks");
  return g;
}

}  // namespace scute::core::pool
