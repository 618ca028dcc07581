// SPDX-License-Identifier: BSD-3-Clause
// The damage that each protection level notices and repairs (Pangolin's Table 2), and the changes
// that a check may not make.
#include <gtest/gtest.h>

#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

class levels : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override {
    f.create(2 * mib, GetParam());
    f.fill();
  }
  known_pool f;
};

TEST_P(levels, PayloadDamage) {
  const scute_oid oid = f.add(3000);
  f.raw(f.offset_of(oid))[1000] ^= std::byte{1};
  const bytes seen = f.read(oid);
  switch (GetParam()) {
    case SCUTE_PROTECT_NONE:
    case SCUTE_PROTECT_ML:  // nothing could notice it
      EXPECT_FALSE(seen == f.objects[oid]);
      f.expect_sound();
      break;
    case SCUTE_PROTECT_MLP: {  // the column is off, the wrong cell unknown: left as it is
      EXPECT_FALSE(seen == f.objects[oid]);
      for (int round = 0; round < 2; ++round) {
        const scute_report r = f.check(true);
        EXPECT_EQ(r.damaged, 1u);
        EXPECT_EQ(r.lost, 1u);
        EXPECT_EQ(r.repaired, 0u);
      }
      EXPECT_EQ(f.read(oid), seen);
      break;
    }
    case SCUTE_PROTECT_AUTO: FAIL() << "no pool has it";
    case SCUTE_PROTECT_MLPC: EXPECT_TRUE(seen == f.objects[oid]); f.expect_sound();
  }
}

TEST_P(levels, HeaderDamageIsAlwaysNoticed) {
  const scute_oid oid = f.add(3000);
  f.raw(f.offset_of(oid))[-32 + 9] ^= std::byte{1};  // its size
  const void* p = nullptr;
  if (GetParam() >= SCUTE_PROTECT_MLP) {
    SCUTE_OKAY(scute_get_verified(f, oid, &p));
    f.expect_all_repaired();
  } else {
    SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, oid, &p));
    EXPECT_EQ(f.check(true).lost, 1u);
    f.objects.erase(oid);
    for (const auto& [o, content] : f.objects) EXPECT_TRUE(f.read(o) == content);
  }
}

TEST_P(levels, OneBitInAChunkHeader) {
  const auto g = f.in().s.geo;
  // The headers after those of a log in chunks.
  const uint64_t first =
      (f.offset_of(f.objects.begin()->first) - g.chunk_offset(0, 0)) / g.chunk_size;
  f.close();
  for (uint64_t chunk = first; chunk < first + 4; ++chunk) {
    const uint64_t at = g.chunk_header_offset(0, chunk) + 36;
    bytes b = read_at(f.path, at, 1);
    b[0] ^= 4;
    write_at(f.path, at, b.data(), 1);
  }
  f.open();
  if (GetParam() >= SCUTE_PROTECT_MLP) {
    f.expect_all_repaired();
    return;
  }
  // The chunks' objects are lost, and said to be; all the others are there.
  EXPECT_GE(f.check().damaged, 4u);
  size_t lost = 0;
  for (const auto& [oid, content] : f.objects) {
    const void* p = nullptr;
    const int e = scute_get_verified(f, oid, &p);
    if (e == SCUTE_OK) {
      EXPECT_TRUE(f.read(oid) == content);
    } else {
      EXPECT_EQ(e, SCUTE_E_CORRUPT) << scute_errormsg();
      ++lost;
    }
  }
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, f.objects.size());
  EXPECT_NE(f.alloc(pattern(1, 100)), 0u) << scute_errormsg();
}

TEST_P(levels, ParityPage) {
  if (f.in().s.geo.parity == 0) return;
  const auto& g = f.in().s.geo;
  for (uint64_t c = 0; c < g.row_size; c += 4096)
    f.raw(g.zone_offset(0) + g.data_size + c)[c % 4096] ^= std::byte{9};
  EXPECT_EQ(f.check(false).damaged, g.row_size / 4096);
  if (GetParam() == SCUTE_PROTECT_MLP) {  // the data might be wrong as well
    EXPECT_EQ(f.check(true).lost, g.row_size / 4096);
    f.expect_objects();
    return;
  }
  EXPECT_EQ(f.check(true).repaired, g.row_size / 4096);
  f.expect_all_repaired();
}

TEST_P(levels, ReadOnlyLeavesADamagedFileAsItIs) {
  const auto g = f.in().s.geo;
  const scute_oid oid = f.add(3000);
  f.close();
  const uint64_t places[] = {0,
                             g.superblock_offset(2) + 30,
                             g.zone_offset(0) + 40,
                             g.chunk_header_offset(0, 1) + 9,
                             f.offset_of(oid) + 5,
                             f.offset_of(oid) - 20};
  for (const uint64_t at : places) {
    bytes b = read_at(f.path, at, 1);
    b[0] ^= 0x10;
    write_at(f.path, at, b.data(), 1);
  }
  const bytes before = read_file(f.path);
  if (f.try_open(SCUTE_READONLY) == SCUTE_OK) {
    scute_report r{};
    r.struct_size = sizeof r;
    const void* p = nullptr;
    for (const auto& [o, content] : f.objects) {
      const int e = scute_get_verified(f, o, &p);
      if (GetParam() == SCUTE_PROTECT_MLPC) {
        EXPECT_EQ(e, SCUTE_OK) << scute_errormsg();
        EXPECT_TRUE(f.read(o) == content);
      }
    }
    for (const int repair : {0, 1}) scute_check(f, repair, &r, nullptr, nullptr, nullptr);
    f.close();
  }
  EXPECT_TRUE(read_file(f.path) == before);
}

TEST_P(levels, CheckWithoutRepairChangesNothing) {
  const scute_oid o = f.add(500);
  SCUTE_OKAY(scute_drain(f));  // nothing is left for the background to write meanwhile
  f.raw(f.offset_of(o))[3] ^= std::byte{1};
  const std::byte* base = f.in().s.medium->base();
  const auto look = [&] {
    const auto* from = reinterpret_cast<const unsigned char*>(base);
    bytes now(from, from + f.in().s.medium->size());
    // The detected damage is noted in the event rings, and nowhere else.
    for (unsigned copy = 0; copy < 3; ++copy)
      for (uint64_t i = format::events_offset; i < format::page; ++i)
        now.at(f.in().s.geo.superblock_offset(copy) + i) = 0;
    return now;
  };
  const bytes before = look();
  f.check(false);
  EXPECT_TRUE(look() == before);
}

INSTANTIATE_TEST_SUITE_P(Protection, levels, every_protection, protection_name);

}  // namespace
}  // namespace scute::test
