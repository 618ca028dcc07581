// SPDX-License-Identifier: BSD-3-Clause
// The layout chosen for every size and option: inside the file, in order, without overlap, and what
// a superblock that claims it is read back as.
#include <gtest/gtest.h>

#include "core/layout/geometry.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::core::pool {
namespace {

using test::gib;
using test::kib;
using test::mib;

format::superblock claim(const geometry& g) {
  format::superblock sb{};
  sb.file_size = g.file_size;
  sb.lanes_offset = g.lanes_offset;
  sb.lane_size = g.lane_size;
  sb.lane_count = g.lane_count;
  sb.lane_replicas = g.lane_replicas;
  sb.zones_offset = g.zones_offset;
  sb.zone_size = g.zone_size;
  sb.row_size = g.row_size;
  sb.zone_count = g.zone_count;
  sb.rows = g.rows;
  sb.parity = g.parity;
  sb.chunk_size = g.chunk_size;
  return sb;
}

void expect_sound(const geometry& g, const scute_options& o) {
  EXPECT_EQ(g.file_size, o.size);
  EXPECT_EQ(g.parity, o.parity != 0 ? o.parity : o.protection >= SCUTE_PROTECT_MLP ? 1u : 0u);
  EXPECT_EQ(g.lane_replicas, o.protection >= SCUTE_PROTECT_ML ? 2u : 1u);
  if (o.rows != 0) {
    EXPECT_EQ(g.rows, o.rows);
  }
  if (o.lanes != 0) {
    EXPECT_EQ(g.lane_count, o.lanes);
  }
  if (o.chunk_size != 0) {
    EXPECT_EQ(g.chunk_size, o.chunk_size);
  }
  // In the order of the file: two superblocks, lanes, zones, superblock.
  EXPECT_EQ(g.lanes_offset, 2 * format::page);
  EXPECT_EQ(g.lane_size % format::page, 0u);
  EXPECT_EQ(g.lane_offset(g.lane_count - 1, g.lane_replicas - 1) + g.lane_size, g.zones_offset);
  EXPECT_LE(g.zones_end(), g.superblock_offset(2));
  EXPECT_LE(g.superblock_offset(2) + sizeof(format::superblock), g.file_size);
  // Rows.
  EXPECT_EQ(g.row_size % format::page, 0u);
  if (g.row_size > format::page) {
    EXPECT_EQ(g.row_size / format::page % 2, 1u) << "rows alias in the cache";
  }
  EXPECT_EQ(g.zone_size, (g.rows + g.parity) * g.row_size);
  EXPECT_EQ(g.data_size, g.rows * g.row_size);
  // The rows of parity follow the data and end with the zone.
  EXPECT_EQ(g.data_size + g.parity * g.row_size, g.zone_size);
  // Chunks lie in the data rows, after the table that describes them.
  ASSERT_GT(g.chunks, 0u);
  EXPECT_EQ(uint64_t{1} << g.chunk_shift, g.chunk_size);
  EXPECT_LE(format::chunk_table_offset + g.chunks * sizeof(format::chunk_header), g.chunk_base);
  EXPECT_LE(g.chunk_base + (uint64_t{g.chunks} << g.chunk_shift), g.data_size);
  EXPECT_EQ(g.chunk_base % format::page, 0u);
  for (const uint64_t z : {uint64_t{0}, uint64_t{g.zone_count} - 1})
    for (const uint64_t c : {uint64_t{0}, uint64_t{g.chunks} - 1}) {
      EXPECT_TRUE(g.in_data(g.chunk_offset(z, c), g.chunk_size));
      EXPECT_EQ(zone_of(g, g.chunk_offset(z, c)), z);
    }
  EXPECT_FALSE(g.in_data(g.zones_offset - 1, 1));
  EXPECT_FALSE(g.in_data(g.zone_offset(0) + g.data_size - 1, 2));
  EXPECT_FALSE(g.in_data(g.zone_offset(0) + g.data_size, g.parity != 0 ? 1 : UINT64_MAX));
  EXPECT_FALSE(g.in_data(g.zones_end(), 1));
  EXPECT_FALSE(g.in_data(UINT64_MAX, 1));
  const cell c = cell_of(g, g.zone_offset(g.zone_count - 1) + g.data_size - 1);
  EXPECT_EQ(c.zone, g.zone_count - 1);
  EXPECT_EQ(c.row, g.rows - 1);
  EXPECT_EQ(c.column, g.row_size - 1);
  // The chosen geometry is accepted from a superblock, and means the same.
  const geometry back = read_geometry(claim(g));
  EXPECT_EQ(back.chunks, g.chunks);
  EXPECT_EQ(back.chunk_base, g.chunk_base);
}

TEST(geometry, DefaultsOfEverySize) {
  for (uint64_t size = SCUTE_SIZE_MIN; size <= SCUTE_SIZE_MAX; size *= 2)
    for (const uint64_t d : {uint64_t{0}, uint64_t{4096}, size / 3 / 4096 * 4096}) {
      if (size + d > SCUTE_SIZE_MAX) continue;
      for (int p = SCUTE_PROTECT_NONE; p <= SCUTE_PROTECT_MLPC; ++p) {
        const scute_options o = test::options(size + d, static_cast<scute_protection>(p));
        SCOPED_TRACE(std::to_string(o.size) + " bytes, protection " + std::to_string(p));
        const geometry g = choose_geometry(o);
        expect_sound(g, o);
        if (o.size >= 4 * gib) {  // parity costs one percent, one row in 101
          EXPECT_EQ(g.rows, 100u);
        }
        // At least two thirds of the file is for objects; half of the smallest ones.
        EXPECT_GE(uint64_t{g.chunks} * g.chunk_size * g.zone_count,
                  o.size >= mib ? o.size / 3 * 2 : o.size / 5 * 2);
      }
    }
}

TEST(geometry, RandomOptionsAreMetOrRefused) {
  SCUTE_RANDOM(random);
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    scute_options o = test::options((random.size(16 * gib) + mib) / 4096 * 4096,
                                    static_cast<scute_protection>(random.between(0, 3)));
    if (random.one_in(2)) o.rows = static_cast<uint32_t>(random.between(1, 1000));
    if (random.one_in(2)) o.lanes = static_cast<uint32_t>(random.between(1, 255));
    if (random.one_in(2)) o.chunk_size = 16384u << random.between(0, 4);
    if (random.one_in(2)) o.parity = static_cast<uint32_t>(random.between(1, 4));
    if (o.protection < SCUTE_PROTECT_MLP) o.parity = 0;
    if (o.protection < SCUTE_PROTECT_MLPC) o.parity = std::min(o.parity, 1u);
    SCOPED_TRACE("size " + std::to_string(o.size) + " rows " + std::to_string(o.rows) + " parity " +
                 std::to_string(o.parity) + " lanes " + std::to_string(o.lanes) + " chunk " +
                 std::to_string(o.chunk_size));
    try {
      expect_sound(choose_geometry(o), o);
      ++met;
    } catch (const failure& e) {
      EXPECT_EQ(e.code(), SCUTE_E_INVALID) << e.what();
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(met, 10000);
}

TEST(geometry, OptionsThatMakeNoSense) {
  const auto refused = [](int code, auto&& change) {
    scute_options o = test::options();
    change(o);
    try {
      choose_geometry(o);
      ADD_FAILURE() << "accepted";
    } catch (const failure& e) {
      EXPECT_EQ(e.code(), code) << e.what();
    }
  };
  refused(SCUTE_E_RANGE, [](auto& o) { o.size = SCUTE_SIZE_MIN - 4096; });
  refused(SCUTE_E_RANGE, [](auto& o) { o.size = 0; });
  refused(SCUTE_E_RANGE, [](auto& o) { o.size = SCUTE_SIZE_MAX + 4096; });
  refused(SCUTE_E_RANGE, [](auto& o) { o.size = UINT64_MAX; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.size = mib + 1; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.rows = 1001; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.rows = 1000; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.lanes = 256; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.lanes = 255; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.chunk_size = 8192; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.chunk_size = 20000; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.chunk_size = 1u << 19; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.parity = 5; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.parity = UINT32_MAX; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.parity = 1, o.protection = SCUTE_PROTECT_ML; });
  refused(SCUTE_E_INVALID, [](auto& o) { o.parity = 1, o.protection = SCUTE_PROTECT_NONE; });
  for (uint32_t parity = 2; parity <= 4; ++parity) {
    SCOPED_TRACE("parity " + std::to_string(parity));
    refused(SCUTE_E_INVALID, [&](auto& o) { o.parity = parity, o.engine = SCUTE_ENGINE_REDO; });
    refused(SCUTE_E_INVALID, [&](auto& o) { o.parity = parity, o.protection = SCUTE_PROTECT_MLP; });
    refused(SCUTE_E_INVALID, [&](auto& o) { o.size = 64 * mib, o.parity = parity, o.rows = 252; });
  }
  refused(SCUTE_E_INVALID, [](auto& o) { o.protection = static_cast<scute_protection>(5); });
  refused(SCUTE_E_INVALID, [](auto& o) { o.checksum = static_cast<scute_checksum>(0); });
  refused(SCUTE_E_INVALID, [](auto& o) { o.engine = static_cast<scute_engine>(9); });
}

// Every number of parity rows, at the bounds of the number of data rows and in between.
TEST(geometry, SeveralParityRows) {
  for (uint32_t parity = 1; parity <= 4; ++parity)
    for (const uint32_t rows : {0u, 1u, 2u, 3u, 7u, 100u, 250u, 251u, 252u, 1000u})
      for (const uint64_t size : {mib, 16 * mib, 64 * mib, 40 * gib}) {
        if (rows > 251 && parity > 1) continue;
        scute_options o = test::options(size);
        o.engine = SCUTE_ENGINE_LOGFREE;
        o.parity = parity;
        o.rows = rows;
        SCOPED_TRACE(std::to_string(size) + " bytes, " + std::to_string(rows) + " rows, parity " +
                     std::to_string(parity));
        if (size == mib && rows >= 250) {  // more rows than the file has pages
          EXPECT_THROW(choose_geometry(o), failure);
          continue;
        }
        const geometry g = choose_geometry(o);
        expect_sound(g, o);
        // No byte of a parity row belongs to a data row, to a chunk or to another zone.
        for (uint64_t z = 0; z < g.zone_count; ++z) {
          uint64_t begin = g.zone_offset(z) + g.data_size;
          EXPECT_GE(begin, g.chunk_offset(z, g.chunks - 1) + g.chunk_size);
          for (uint32_t p = 0; p < parity; ++p, begin += g.row_size)
            for (const uint64_t at : {begin, begin + g.row_size / 2, begin + g.row_size - 1}) {
              EXPECT_FALSE(g.in_data(at, 1));
              EXPECT_EQ(cell_of(g, at).zone, z);
              EXPECT_EQ(cell_of(g, at).row, g.rows + p);
            }
          EXPECT_EQ(begin, z + 1 < g.zone_count ? g.zone_offset(z + 1) : g.zones_end());
        }
      }
}

TEST(geometry, ASuperblockWithTooManyRowsOrParityIsRefused) {
  scute_options o = test::options(64 * mib);
  o.engine = SCUTE_ENGINE_LOGFREE;
  o.rows = 251;
  o.parity = 4;
  const geometry g = choose_geometry(o);
  const auto refused = [&](uint32_t rows, uint32_t parity) {
    format::superblock sb = claim(g);
    sb.rows = rows;
    sb.parity = parity;
    sb.zone_size = (uint64_t{rows} + parity) * g.row_size;
    // Room for the rows claimed: nothing but their number is wrong.
    sb.file_size = sb.zones_offset + sb.zone_count * sb.zone_size + 2 * format::page;
    try {
      read_geometry(sb);
      return false;
    } catch (const failure& e) {
      EXPECT_EQ(e.code(), SCUTE_E_CORRUPT) << e.what();
      return true;
    }
  };
  EXPECT_FALSE(refused(251, 4));
  EXPECT_TRUE(refused(252, 4));
  EXPECT_TRUE(refused(252, 2));
  EXPECT_FALSE(refused(252, 1));
  EXPECT_FALSE(refused(252, 0));
  EXPECT_TRUE(refused(251, 5));
  EXPECT_TRUE(refused(4, UINT32_MAX));
}

TEST(geometry, AClaimThatLeavesTheFileIsRefused) {
  SCUTE_RANDOM(random);
  const geometry g = choose_geometry(test::options(64 * mib));
  for (int i = 0; i < 200000; ++i) {
    format::superblock sb = claim(g);
    for (uint64_t n = random.between(1, 3); n != 0; --n) {
      auto* raw = reinterpret_cast<unsigned char*>(&sb) + offsetof(format::superblock, file_size);
      raw[random.between(0, offsetof(format::superblock, protection) -
                                offsetof(format::superblock, file_size) - 1)] =
          static_cast<unsigned char>(random.one_in(2) ? random.word() : random.between(0, 3));
    }
    try {
      const geometry back = read_geometry(sb);
      ASSERT_LE(back.zones_end(), back.superblock_offset(2));
      ASSERT_EQ(back.lane_offset(back.lane_count - 1, back.lane_replicas - 1) + back.lane_size,
                back.zones_offset);
      ASSERT_LE(back.chunk_base + (uint64_t{back.chunks} << back.chunk_shift), back.data_size);
      ASSERT_LE(back.data_size, back.zone_size);
    } catch (const failure& e) {
      ASSERT_EQ(e.code(), SCUTE_E_CORRUPT);
    }
  }
}

}  // namespace
}  // namespace scute::core::pool
