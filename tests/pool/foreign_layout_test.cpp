// SPDX-License-Identifier: BSD-3-Clause
// Where the user's file lies in a foreign pool (FOREIGN-1 to FOREIGN-4), for all kinds of options,
// and superblocks that lie.
#include <gtest/gtest.h>

#include "core/layout/foreign.hpp"
#include "core/shared/object_place.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

pool::foreign_layout layout_of(const pool::foreign_plan& p) {
  format::superblock sb{};
  sb.foreign = p.record;
  return pool::read_foreign(sb, p.geo);
}

void expect_whole(const pool::foreign_plan& p, uint64_t size, uint64_t capacity) {
  const pool::geometry& g = p.geo;
  const pool::foreign_layout l = layout_of(p);
  EXPECT_GE(l.capacity(g), capacity);
  EXPECT_LE(g.rows, 1000u);
  uint64_t covered = 0;
  for (uint64_t z = 0; z < g.zone_count; ++z) {
    // FOREIGN-1
    const auto place = pool::object_place::at(l.span_offset(g, z), l.span_size(g));
    EXPECT_EQ(place.payload, l.payload_offset(g, z));
    EXPECT_EQ(place.room, l.share);
    EXPECT_EQ(place.payload % format::page, 0u);
    EXPECT_EQ(l.segments(g).place_of(z * l.share), place.payload);
    EXPECT_TRUE(g.in_data(l.span_offset(g, z), l.span_size(g)));
    // FOREIGN-2
    EXPECT_GE(l.first, 4u);
    EXPECT_LE(l.first + l.chunks, g.chunks);
    // FOREIGN-3
    const uint64_t end = g.chunk_offset(z, l.high_water(g, z, size));
    EXPECT_GE(end, place.payload + l.object_size(z, size));
    EXPECT_LT(end, place.payload + l.object_size(z, size) + g.chunk_size);
    // FOREIGN-4
    EXPECT_EQ(l.object_size(z, size), std::max<uint64_t>(1, l.covered(z, size)));
    covered += l.covered(z, size);
  }
  EXPECT_EQ(covered, size);
  // A superblock that claims this geometry is accepted.
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
  EXPECT_EQ(pool::read_geometry(sb).chunks, g.chunks);
}

TEST(foreign_layout, OfAnyFile) {
  SCUTE_RANDOM(random);
  for (int i = 0; i < 3000; ++i) {
    scute_options o;
    scute_options_init(&o);
    const uint64_t size = random.between(1, uint64_t{1} << random.between(1, 38));
    const uint64_t capacity =
        random.one_in(2) ? 0 : size + random.between(0, size * random.between(0, 20) + 4096);
    if (random.one_in(2)) o.rows = static_cast<uint32_t>(random.between(1, 200));
    if (random.one_in(2)) o.parity = static_cast<uint32_t>(random.between(1, 4));
    o.engine = o.parity > 1 ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_AUTO;
    if (random.one_in(3)) o.chunk_size = static_cast<uint32_t>(16 * kib << random.between(0, 4));
    const auto chunks = static_cast<uint32_t>(random.one_in(2) ? 0 : random.between(0, 300));
    const pool::foreign_plan p = pool::plan_foreign(o, size, capacity, chunks);
    expect_whole(p, size, std::max(capacity, size));
    if (HasFailure()) FAIL() << size << " " << capacity << " " << o.rows << " " << o.parity;
  }
}

// Parity takes one row in as many as were asked for, whatever room there is to grow.
TEST(foreign_layout, ParityIsOfTheFile) {
  scute_options o;
  scute_options_init(&o);
  for (const uint64_t size : {uint64_t{512} << 20, uint64_t{4} << 30, uint64_t{12} << 30}) {
    const pool::foreign_plan p = pool::plan_foreign(o, size, 0, 0);
    EXPECT_LE(p.geo.zone_count * p.geo.row_size * 1000, size * 12) << size;
    EXPECT_GE(p.geo.rows, 100u);
  }
}

TEST(foreign_layout, RefusesWrongFields) {
  scute_options o;
  scute_options_init(&o);
  const pool::foreign_plan good = pool::plan_foreign(o, 3 * mib, 0, 0);
  layout_of(good);
  const auto refused = [&](auto&& lie) {
    pool::foreign_plan p = good;
    lie(p.record);
    try {
      layout_of(p);
      ADD_FAILURE() << "believed";
    } catch (const failure& e) {
      EXPECT_EQ(e.code(), SCUTE_E_CORRUPT);
    }
  };
  using record = format::foreign_record;
  refused([](record& r) { r.size = 0; });
  refused([](record& r) { r.size = UINT64_MAX; });
  refused([](record& r) { r.growth = r.size - 1; });
  refused([](record& r) { r.growth = UINT64_MAX; });
  refused([](record& r) { r.share += 4096; });
  refused([](record& r) { r.share = 0; });
  refused([](record& r) { r.chunks = 0; });
  refused([](record& r) { r.chunks -= 1; });
  refused([](record& r) { r.chunks = 129u * 30000000u; });
  refused([](record& r) { r.first = UINT32_MAX; });
  refused([](record& r) { r.first += 1000; });
  refused([](record& r) { r.guard = 0640; });
  for (const uint64_t capacity : {uint64_t{1}, SCUTE_SIZE_MAX})
    EXPECT_THROW(pool::plan_foreign(o, 3 * mib, capacity, 0), failure);
  EXPECT_THROW(pool::plan_foreign(o, 0, 0, 0), failure);
}

}  // namespace
}  // namespace scute::test
