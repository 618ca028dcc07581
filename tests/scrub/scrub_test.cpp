// SPDX-License-Identifier: BSD-3-Clause
// What a scrub finds, repairs and reports.
#include <gtest/gtest.h>

#include "scrub/scrubbing.hpp"

namespace scute::test {
using namespace core;
namespace {

void flip(known_pool& f, uint64_t offset, unsigned char mask = 0xff) {
  f.raw(offset)[0] ^= std::byte{mask};
}

class scrub_kinds : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    f.create(8 * mib);
    f.fill();
  }
  scrub_result scrub() { return run_scrub(f, GetParam()); }
  known_pool f;
};

// SCRUB-2.
TEST_P(scrub_kinds, ASoundPool) {
  const scrub_result r = scrub();
  const scute_report c = f.check();
  EXPECT_EQ(r.report.damaged, 0u);
  EXPECT_EQ(r.report.complete, 1);
  EXPECT_EQ(r.report.objects, f.objects.size());
  EXPECT_EQ(r.report.objects, c.objects);
  EXPECT_EQ(r.report.object_bytes, c.object_bytes);
  EXPECT_EQ(r.report.chunks, c.chunks);
  EXPECT_EQ(r.report.columns_bytes, c.columns_bytes);
  EXPECT_GT(r.report.elapsed_ns, 0u);
  EXPECT_TRUE(r.findings.empty()) << testing::PrintToString(r.findings);
  ASSERT_EQ(r.zones.size(), 1u);
  EXPECT_EQ(r.zones[0].objects, r.report.objects);
  EXPECT_EQ(r.zones[0].bytes, r.report.bytes);
  EXPECT_GE(r.report.bytes, c.columns_bytes);
}

TEST_P(scrub_kinds, EveryObject) {
  for (const auto& [oid, content] : f.objects) flip(f, f.offset_of(oid) + content.size() / 2);
  const scrub_result r = scrub();
  EXPECT_EQ(r.report.damaged, r.report.repaired);
  EXPECT_EQ(r.report.lost, 0u);
  EXPECT_EQ(r.report.repaired, f.objects.size());
  EXPECT_EQ(r.count("object (repaired)") + r.count("object fragment (repaired)"), f.objects.size());
  f.expect_sound();
  f.expect_objects();
}

TEST_P(scrub_kinds, EveryFragmentOfALargeObject) {
  const scute_oid oid = f.add(300'000);
  // One after the other, so that no two damages share a column.
  for (uint64_t i = 0; i * 4096 < 300'000; ++i) flip(f, f.offset_of(oid) + i * 4096 + i % 100);
  const scrub_result r = scrub();
  EXPECT_EQ(r.report.repaired, 74u);
  EXPECT_EQ(r.report.lost, 0u);
  f.expect_sound();
  f.expect_objects();
}

TEST_P(scrub_kinds, HeadersOfObjectsAndFreeSlots) {
  uint64_t n = 0;
  std::vector<uint64_t> damaged;
  for (const auto& [oid, content] : f.objects)
    if (n++ % 3 == 0 && content.size() <= 4096) damaged.push_back(f.offset_of(oid) - 32);
  // A slot that was freed, and one that was formatted but never used.
  const scute_oid gone = f.add(100), kept = f.add(100);
  SCUTE_OKAY(f.free(gone));
  damaged.push_back(f.offset_of(gone) - 32);
  damaged.push_back(f.offset_of(kept) - 32 + 160);
  f.objects.erase(gone);
  for (const uint64_t at : damaged) flip(f, at + 9);
  const scrub_result r = scrub();
  EXPECT_EQ(r.report.repaired, damaged.size()) << testing::PrintToString(r.findings);
  EXPECT_EQ(r.report.lost, 0u);
  EXPECT_GE(r.count("free slot (repaired)"), 1u);
  f.expect_sound();
  f.expect_objects();
}

TEST_P(scrub_kinds, Structures) {
  const auto& g = f.in().s.geo;
  flip(f, g.zone_offset(0) + 41);
  flip(f, g.zone_offset(0) + format::zone_anchor_offset + 33);
  flip(f, g.chunk_header_offset(0, 0) + 36);
  flip(f, g.chunk_header_offset(0, 15) + 3);
  const scrub_result r = scrub();
  EXPECT_EQ(r.count("zone descriptor (repaired)"), 1u);
  EXPECT_EQ(r.count("root anchor (repaired)"), 1u);
  EXPECT_EQ(r.count("chunk header (repaired)"), 2u);
  EXPECT_EQ(r.report.repaired, 4u);
  f.expect_sound();
  f.expect_objects();
}

TEST_P(scrub_kinds, StructuresOfAZoneThatIsNotLoaded) {
  const auto g = f.in().s.geo;
  f.close();
  for (const uint64_t at : {g.chunk_header_offset(0, 0) + 36, g.chunk_header_offset(0, 1) + 36}) {
    bytes b = read_at(f.path, at, 1);
    b[0] ^= 4;
    write_at(f.path, at, b.data(), 1);
  }
  f.open();
  const scrub_result r = scrub();
  EXPECT_EQ(r.count("chunk header (repaired)"), 2u);
  EXPECT_EQ(r.report.lost, 0u);
  f.expect_sound();
  f.expect_objects();
}

TEST_P(scrub_kinds, Superblocks) {
  const auto& g = f.in().s.geo;
  flip(f, g.superblock_offset(1) + 60);
  flip(f, g.superblock_offset(2) + 130);
  EXPECT_EQ(scrub().count("superblock copy (repaired)"), 2u);
  EXPECT_EQ(scrub().report.damaged, 0u);
  f.expect_sound();
}

TEST_P(scrub_kinds, ParityAndUnusedSpace) {
  const auto& g = f.in().s.geo;
  const uint64_t parity = g.zone_offset(0) + g.data_size;
  flip(f, parity + 5);
  flip(f, parity + 4096 * 3 + 77);
  for (uint64_t i = 0; i < 4096; ++i) flip(f, parity + 4096 * 5 + i);
  // Space in no use, but inside of the used rows.
  heap::zone& z = f.in().heap->zones().get(0);
  uint32_t unused = z.high_water;
  while (unused != 0 && z.chunks[unused - 1].kind != heap::use::free) --unused;
  ASSERT_NE(unused, 0u);
  // Apart from the columns above.
  uint64_t at = g.chunk_offset(0, unused - 1) + 77;
  while (pool::cell_of(g, at).column / 4096 < 6) at += 4096;
  flip(f, at);
  const scrub_result r = scrub();
  EXPECT_EQ(r.count("parity (repaired)"), 4u) << testing::PrintToString(r.findings);
  EXPECT_EQ(r.report.lost, 0u);
  f.expect_sound();
  f.expect_objects();
}

TEST_P(scrub_kinds, AScribbleOfAWholeRow) {
  const auto& g = f.in().s.geo;
  uint64_t chunk = 1;
  while (f.in().s.overlaid.touches(g.chunk_offset(0, chunk), 1)) ++chunk;  // a log's
  const uint64_t at = g.chunk_offset(0, chunk) + 1234;
  for (uint64_t i = 0; i < g.row_size / 2; ++i) f.raw(at)[i] = std::byte(i * 7 + 1);
  const scrub_result r = scrub();
  EXPECT_EQ(r.report.lost, 0u) << testing::PrintToString(r.findings);
  EXPECT_GT(r.report.repaired, 10u);
  f.expect_sound();
  f.expect_objects();
}

// Rings of lanes: engine spec writes none.
class scrub_rings : public testing::TestWithParam<std::tuple<uint32_t, scute_engine>> {
 protected:
  void SetUp() override {
    f.create(8 * mib, {SCUTE_PROTECT_MLPC, std::get<1>(GetParam())});
    f.fill();
  }
  scrub_result scrub() { return run_scrub(f, std::get<0>(GetParam())); }
  known_pool f;
};

// REPLICA-2.
TEST_P(scrub_rings, LogReplicas) {
  for (uint64_t i = 0; i < 5; ++i) f.add(700);
  // A large object's overwrite goes through the log with every engine; it has two cells in each
  // column.
  const scute_oid wide = f.add(2 * f.in().s.geo.row_size + 100);
  {
    transaction tx(f);
    for (const uint64_t at : {uint64_t{50}, f.in().s.geo.row_size + 50}) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, wide, at, 300, &p));
      std::memcpy(f.objects[wide].data() + at, pattern(at, 300).data(), 300);
      std::memcpy(p, pattern(at, 300).data(), 300);
    }
    SCUTE_OKAY(tx.commit());
  }
  const auto& s = f.in().s;
  const int lane = scute_thread_lane(f);
  ASSERT_GE(lane, 0);
  const auto i = static_cast<uint32_t>(lane);
  const auto& l = s.lanes[i];
  const bytes before(
      reinterpret_cast<unsigned char*>(f.raw(s.geo.lane_offset(i, 0))),
      reinterpret_cast<unsigned char*>(f.raw(s.geo.lane_offset(i, 0))) + s.geo.lane_size);
  flip(f, s.geo.lane_offset(i, 1));  // a status word; whether its value looks higher or lower now
  flip(f, s.geo.lane_offset(i, 0) + l.last_begin + 100);  // the body of the last entry
  const scrub_result r = scrub();
  EXPECT_EQ(r.count("log replica (repaired)"), 2u) << testing::PrintToString(r.findings);
  EXPECT_EQ(std::memcmp(f.raw(s.geo.lane_offset(i, 0)), before.data(), before.size()), 0);
  EXPECT_EQ(std::memcmp(f.raw(s.geo.lane_offset(i, 1)), before.data(), before.size()), 0);
  EXPECT_EQ(scrub().report.damaged, 0u);
}

// The sound copy is the one that passes its check, whichever value looks higher. (REPLICA-2)
TEST_P(scrub_rings, StatusWordOfEitherReplica) {
  const auto& s = f.in().s;
  const auto i = static_cast<uint32_t>(scute_thread_lane(f));
  uint64_t sound = 0;
  std::memcpy(&sound, f.raw(s.geo.lane_offset(i, 0)), 8);
  ASSERT_NE(sound, 0u);
  for (const uint32_t replica : {0u, 1u})
    for (uint64_t at = 0; at < 8; ++at)
      for (const unsigned mask : {0x01u, 0x80u, 0xffu}) {
        flip(f, s.geo.lane_offset(i, replica) + at, static_cast<unsigned char>(mask));
        EXPECT_EQ(scrub().count("log replica (repaired)"), 1u);
        for (const uint32_t r : {0u, 1u})
          ASSERT_EQ(std::memcmp(f.raw(s.geo.lane_offset(i, r)), &sound, 8), 0)
              << "byte " << at << " of replica " << replica << ", mask " << mask;
      }
}

// Lanes in use are left alone.
TEST_P(scrub_kinds, LogReplicaOfATransactionThatIsOpen) {
  f.add(700);
  std::atomic<int> phase{0};
  std::thread other([&] {
    transaction tx(f);
    void* to = nullptr;
    SCUTE_OKAY_E(scute_tx_open(tx, f.root, &to));
    phase = 1;
    while (phase != 2) std::this_thread::yield();
    static_cast<unsigned char*>(to)[0] ^= 1;
    SCUTE_OKAY_E(tx.commit());
  });
  while (phase != 1) std::this_thread::yield();
  const scrub_result r = scrub();
  EXPECT_EQ(r.report.damaged, 0u);
  phase = 2;
  other.join();
  f.objects[f.root][0] ^= 1;
  f.expect_sound();
  f.expect_objects();
}

// SUSPECT-1.
TEST_P(scrub_kinds, WhatIsLostIsNamedAndItsColumnsAreLeft) {
  const scute_oid oid = f.add(3000), other = f.add(3000);
  const auto& g = f.in().s.geo;
  const pool::cell c = pool::cell_of(g, f.offset_of(oid) + 1500);
  flip(f, f.offset_of(oid) + 1500);
  flip(f, g.zone_offset(0) + g.data_size + c.column, 0x0f);
  flip(f, f.offset_of(other) + 10);
  for (int round = 0; round < 2; ++round) {
    const scrub_result r = scrub();
    EXPECT_EQ(r.report.lost, 1u) << testing::PrintToString(r.findings);
    EXPECT_EQ(r.report.damaged, round == 0 ? 2u : 1u);
    ASSERT_EQ(r.lost_objects.size(), 1u);
    EXPECT_EQ(r.lost_objects[0], oid);
  }
  // The syndrome is still there, so undoing one of the damages brings the object back.
  flip(f, g.zone_offset(0) + g.data_size + c.column, 0x0f);
  EXPECT_EQ(scrub().report.repaired, 1u);
  f.expect_sound();
  f.expect_objects();
}

INSTANTIATE_TEST_SUITE_P(threads, scrub_kinds, testing::Values(1u, 3u));
INSTANTIATE_TEST_SUITE_P(threads, scrub_rings,
                         testing::Combine(testing::Values(1u, 3u),
                                          testing::Values(SCUTE_ENGINE_REDO,
                                                          SCUTE_ENGINE_LOGFREE)));

class scrub_levels : public testing::TestWithParam<pool_kind> {};

TEST_P(scrub_levels, WhatIsRepaired) {
  known_pool f;
  f.create(4 * mib, GetParam());
  f.fill();
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  const scute_oid oid = f.add(3000), headless = f.add(3000);
  flip(f, f.offset_of(oid) + 1000, 1);
  flip(f, f.offset_of(headless) - 32 + 9, 1);
  const scrub_result r = run_scrub(f, 2);
  switch (GetParam()) {
    case SCUTE_PROTECT_NONE:
    case SCUTE_PROTECT_ML:
      EXPECT_EQ(r.report.damaged, 1u);
      EXPECT_EQ(r.report.lost, 1u);
      ASSERT_EQ(r.lost_objects.size(), 1u);
      EXPECT_EQ(r.lost_objects[0], headless);
      break;
    case SCUTE_PROTECT_MLP:
      EXPECT_EQ(r.report.damaged, 2u) << testing::PrintToString(r.findings);
      EXPECT_EQ(r.report.repaired, 1u);
      EXPECT_EQ(r.report.lost, 1u);
      EXPECT_EQ(run_scrub(f).report.lost, 1u);  // it is not made to look sound
      break;
    case SCUTE_PROTECT_AUTO: FAIL() << "no pool has it";
    case SCUTE_PROTECT_MLPC:
      EXPECT_EQ(r.report.repaired, 2u);
      f.expect_sound();
      f.expect_objects();
  }
}

TEST_P(scrub_levels, AReadOnlyPoolIsLookedAt) {
  known_pool f;
  f.create(4 * mib, GetParam());
  f.fill();
  const scute_oid oid = f.add(3000);
  flip(f, f.offset_of(oid) - 32 + 9, 1);
  f.reopen(SCUTE_READONLY);
  const scrub_result r = run_scrub(f, 2);
  EXPECT_EQ(r.report.damaged, 1u);
  EXPECT_EQ(r.report.repaired, 0u);
  EXPECT_EQ(r.report.lost, GetParam() >= SCUTE_PROTECT_MLP ? 0u : 1u);
  EXPECT_EQ(r.report.complete, 1);
  EXPECT_EQ(run_scrub(f).report.damaged, 1u);
}

INSTANTIATE_TEST_SUITE_P(levels, scrub_levels, every_protection, protection_name);

TEST(scrub, Adler32) {
  known_pool f;
  f.create(4 * mib, SCUTE_PROTECT_MLPC, SCUTE_CHECKSUM_ADLER32);
  f.fill();
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  for (const auto& [oid, content] : f.objects) flip(f, f.offset_of(oid));
  EXPECT_EQ(run_scrub(f).report.repaired, f.objects.size());
  f.expect_sound();
  f.expect_objects();
}

}  // namespace
}  // namespace scute::test
