// SPDX-License-Identifier: BSD-3-Clause
// Every kind of damage that one row of parity can repair, at rest: repaired wherever it is met
// first.
#include <gtest/gtest.h>

#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

class repair : public testing::TestWithParam<scute_checksum> {
 protected:
  void SetUp() override {
    f.create(2 * mib, SCUTE_PROTECT_MLPC, GetParam());
    f.fill();
    g = f.in().s.geo;
  }
  // Damages [offset, offset+n) of the closed file and opens it again.
  template <typename Change>
  void damage(uint64_t offset, size_t n, Change&& change) {
    f.close();
    bytes b = read_at(f.path, offset, n);
    change(b);
    write_at(f.path, offset, b.data(), n);
    f.open();
  }
  static void scramble(bytes& b) {
    for (auto& x : b) x = static_cast<unsigned char>(x * 7 + 13);
  }
  static void zero(bytes& b) { std::fill(b.begin(), b.end(), 0); }

  known_pool f;
  pool::geometry g;
};

TEST_P(repair, SuperblockCopies) {
  for (unsigned lost = 1; lost < 7; ++lost) {  // every set but all three
    SCOPED_TRACE(lost);
    f.close();
    for (unsigned i = 0; i < 3; ++i)
      if ((lost >> i & 1) != 0) {
        const bytes junk = pattern(i, 512);
        write_at(f.path, g.superblock_offset(i), junk.data(), junk.size());
      }
    f.open();
    EXPECT_EQ(f.info().repaired, static_cast<uint64_t>(std::popcount(lost)));
    f.expect_sound();
    f.expect_objects();
  }
  f.reopen();
  EXPECT_EQ(f.info().repaired, 0u);
}

TEST_P(repair, ZoneHeaderPage) {
  for (const auto change : {zero, scramble}) {
    damage(g.zone_offset(0), 4096, change);
    f.expect_all_repaired();
  }
}

TEST_P(repair, RootAnchorAlone) {
  damage(g.zone_offset(0) + format::zone_anchor_offset, 64, scramble);
  scute_oid again = 0;
  SCUTE_OKAY(scute_root(f, 0, 0, &again));
  EXPECT_EQ(again, f.root);
  f.expect_all_repaired();
}

TEST_P(repair, ChunkHeaderPage) {
  for (const auto change : {zero, scramble}) {
    damage(g.chunk_header_offset(0, 0), 4096, change);
    f.expect_all_repaired();
  }
}

// POOL-4.
TEST_P(repair, EveryPageOfTheRowsAndTheParity) {
  // One page at a time, alternately zeroed and scrambled; repaired by whatever meets it first.
  for (uint64_t at = g.zones_offset; at < g.zones_end(); at += 4096) {
    SCOPED_TRACE(at);
    const bool zeroed = at / 4096 % 2 != 0;
    damage(at, 4096, zeroed ? zero : scramble);
    if (at / 4096 % 3 == 0) f.expect_objects();
    const scute_report r = f.check(true);
    ASSERT_EQ(r.lost, 0u);
    ASSERT_EQ(r.damaged, r.repaired);
    f.expect_sound();
    f.expect_objects();
    if (HasFailure()) break;
  }
}

TEST_P(repair, LanesMayHoldAnythingAfterACleanClose) {
  damage(g.lanes_offset, g.zones_offset - g.lanes_offset, scramble);
  f.expect_all_repaired();
}

TEST_P(repair, ScribblesUpToARow) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 30; ++round) {
    const uint64_t n = round % 4 == 0 ? g.row_size - 4096 : random.size(g.row_size - 4096);
    const uint64_t at = random.between(g.zones_offset, g.zones_end() - n);
    SCOPED_TRACE(std::to_string(at) + "+" + std::to_string(n));
    damage(at, n, [&](bytes& b) { b = pattern(random.word(), n); });
    ASSERT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
    f.expect_objects();
    if (HasFailure()) break;
  }
}

TEST_P(repair, ScribblesOfAWholeRow) {
  // In one page of the columns both ends of the scribble meet: two rows damaged, no column twice.
  SCUTE_RANDOM(random);
  for (int round = 0; round < 10; ++round) {
    const uint64_t at = random.between(g.zones_offset, g.zones_end() - g.row_size);
    SCOPED_TRACE(at);
    damage(at, g.row_size, [&](bytes& b) { b = pattern(random.word(), b.size()); });
    std::vector<std::string> findings;
    ASSERT_EQ(f.check(true, &findings).lost, 0u) << testing::PrintToString(findings);
    f.expect_sound();
    f.expect_objects();
    if (HasFailure()) break;
  }
}

TEST_P(repair, BitFlipsInEachBitOfAHeader) {
  for (const size_t size : {33u, 4096u, 12000u}) {
    scute_oid oid = 0;
    for (const auto& [o, content] : f.objects)
      if (content.size() == size) oid = o;
    if (oid == 0) oid = f.add(size);
    const bytes want = f.objects.at(oid);
    uint32_t type = 0;
    SCUTE_OKAY(scute_object_info(f, oid, nullptr, nullptr, &type));
    const auto where = f.in().heap->zones().locate(f.offset_of(oid));
    for (uint64_t bit = 0; bit < 256; ++bit) {
      SCOPED_TRACE(std::to_string(size) + " bytes, header bit " + std::to_string(bit));
      f.raw(where.header)[bit / 8] ^= std::byte(1u << bit % 8);
      uint64_t size_seen = 0;
      uint32_t type_seen = 0;
      switch (bit % 5) {
        case 0: {  // the first that meets it: a transaction
          transaction tx(f);
          void* p = nullptr;
          SCUTE_OKAY(scute_tx_open(tx, oid, &p));
          ASSERT_EQ(0, std::memcmp(p, want.data(), want.size()));
          break;
        }
        case 1: {
          transaction tx(f);
          void* p = nullptr;
          SCUTE_OKAY(scute_tx_add_range(tx, oid, size - 1, 1, &p));
          ASSERT_EQ(*static_cast<unsigned char*>(p), want.back());
          break;
        }
        case 2: {
          void* p = nullptr;
          SCUTE_OKAY(scute_obj_open(f, oid, &p));
          EXPECT_EQ(0, std::memcmp(p, want.data(), want.size()));
          scute_obj_discard(p);
          break;
        }
        case 3:
          SCUTE_OKAY(scute_object_info(f, oid, &size_seen, nullptr, &type_seen));
          EXPECT_EQ(size_seen, size);
          EXPECT_EQ(type_seen, type);
          break;
        default: {
          const void* p = nullptr;
          SCUTE_OKAY(scute_get_verified(f, oid, &p));
          EXPECT_EQ(0, std::memcmp(p, want.data(), want.size()));
        }
      }
      f.check(true);
      f.expect_sound();
      if (HasFailure()) return;
    }
  }
  f.expect_all_repaired();
}

TEST_P(repair, BitFlipsInPayloads) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 60; ++round) {
    auto it = f.objects.begin();
    std::advance(it, static_cast<long>(random.between(0, f.objects.size() - 1)));
    const auto& [oid, want] = *it;
    // 1 to 64 bits in a run, within one fragment: what a broken cell or a torn line does.
    const uint64_t bits = random.between(1, 64);
    const uint64_t first =
        random.between(0, want.size() * 8 - std::min<uint64_t>(bits, want.size() * 8));
    for (uint64_t b = first; b < std::min<uint64_t>(first + bits, want.size() * 8); ++b)
      f.raw(f.offset_of(oid))[b / 8] ^= std::byte(1u << b % 8);
    SCOPED_TRACE(std::to_string(want.size()) + " bytes, bit " + std::to_string(first));
    if (random.one_in(2)) {
      ASSERT_TRUE(f.read(oid) == want);
    } else {
      transaction tx(f);
      const uint64_t n = random.size(want.size()), at = random.between(0, want.size() - n);
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, oid, at, n, &p));
      ASSERT_EQ(0, std::memcmp(p, want.data() + at, n));
      SCUTE_OKAY(tx.commit());
      ASSERT_TRUE(f.read(oid) == want);
    }
    f.expect_sound();
  }
  EXPECT_GT(f.stats().repairs, 0u);
  f.expect_all_repaired();
}

TEST_P(repair, OverwriteOfADamagedObjectKeepsTheColumnsRight) {
  for (auto& [oid, content] : f.objects) {
    f.raw(f.offset_of(oid))[content.size() / 2] ^= std::byte{0x40};
    content[0] ^= 0xff;
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oid, 0, 1, &p));
    *static_cast<unsigned char*>(p) = content[0];
    SCUTE_OKAY(tx.commit());
  }
  f.expect_all_repaired();
}

TEST_P(repair, FreeOfADamagedObject) {
  while (!f.objects.empty()) {
    const scute_oid oid = f.objects.begin()->first;
    const auto where = f.in().heap->zones().locate(f.offset_of(oid));
    f.raw(where.header)[9] ^= std::byte{1};  // its size
    f.raw(where.payload)[0] ^= std::byte{1};
    ASSERT_EQ(SCUTE_OK, f.free(oid)) << scute_errormsg();
    f.objects.erase(oid);
  }
  f.check(true);  // a free slot's payload is in no object, its columns may be off
  f.expect_all_repaired();
}

TEST_P(repair, DamageInSpaceNeverUsed) {
  // The last rows have never been written. Damage to them must not hurt later objects.
  const uint64_t n = g.row_size / 4096 * 4096;
  damage(g.chunk_offset(0, g.chunks - n / g.chunk_size), n - n % g.chunk_size, scramble);
  for (scute_oid oid = 1; oid != 0;) {
    const bytes content = pattern(9, 9000);
    oid = f.alloc(content);
    if (oid != 0) f.objects[oid] = content;
  }
  f.expect_sound();
  f.expect_objects();
}

TEST_P(repair, DamageInSpaceNeverUsedDoesNotSpoilTheRepairOfAnother) {
  // In the last row, which was never used, the columns of the zone's header and chunk table.
  damage(g.zone_offset(0) + (g.rows - 1) * g.row_size, 8192, scramble);
  damage(g.chunk_header_offset(0, 0), 4096, scramble);
  EXPECT_EQ(f.check(true).lost, 0u);
  f.expect_all_repaired();
  damage(g.chunk_header_offset(0, 0), 4096, scramble);
  f.expect_all_repaired();
}

TEST_P(repair, TwoRowsOfAColumnAreNamedAndTheRestLives) {
  // Two large objects, one of them just a row further on: damage the same column in both.
  f.close();
  scute_options o = options(2 * mib, SCUTE_PROTECT_MLPC, GetParam());
  o.flags = SCUTE_OVERWRITE;
  SCUTE_OKAY(scute_create(f.path.c_str(), &o, &f.pool));
  f.objects.clear();
  const scute_oid big = f.add(static_cast<size_t>(g.row_size + g.row_size / 2));
  const scute_oid other = f.add(1000);
  const uint64_t first = f.offset_of(big) + 8192;
  damage(first, 1, scramble);
  damage(first + g.row_size, 1, scramble);
  const void* p = nullptr;
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, big, &p));
  {
    transaction tx(f);
    void* q = nullptr;
    SCUTE_FAILS(SCUTE_E_CORRUPT, scute_tx_open(tx, big, &q));
    SCUTE_FAILS(SCUTE_E_CORRUPT, scute_tx_add_range(tx, big, 8192, 1, &q));
    SCUTE_OKAY(scute_tx_add_range(tx, big, 0, 1, &q));  // another fragment of it is sound
  }
  EXPECT_EQ(f.read(other), f.objects[other]);
  EXPECT_NE(f.add(3000), 0u);
  std::vector<std::string> findings;
  scute_report r = f.check(true, &findings);
  EXPECT_EQ(r.lost, 2u) << testing::PrintToString(findings);
  EXPECT_EQ(r.repaired, 0u);
  r = f.check(true);
  EXPECT_EQ(r.lost, 2u) << "a second check must not bury the loss";
  EXPECT_GE(f.stats().losses, 1u);
  ASSERT_EQ(SCUTE_OK, f.free(big)) << scute_errormsg();
  f.objects.erase(big);
  f.check(true);
  f.expect_sound();
  f.expect_objects();
}

INSTANTIATE_TEST_SUITE_P(Checksum, repair,
                         testing::Values(SCUTE_CHECKSUM_CRC32C, SCUTE_CHECKSUM_ADLER32),
                         [](const auto& p) {
                           return p.param == SCUTE_CHECKSUM_CRC32C ? "crc32c" : "adler32";
                         });

}  // namespace
}  // namespace scute::test
