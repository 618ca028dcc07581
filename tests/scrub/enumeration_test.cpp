// SPDX-License-Identifier: BSD-3-Clause
// Enumeration of damaged pools: all objects, or an error that says how many are missing.
#include "core/scrub/enumeration.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint32_t even = 10, odd = 11;

class enumeration : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override {
    f.create(2 * mib, GetParam());
    for (uint64_t i = 0; i < 1000; ++i)
      all.push_back(f.alloc(pattern(i, 100), i % 2 == 0 ? even : odd));
    large = f.alloc(pattern(1, 70000), even);
    all.push_back(large);
    g = f.in().s.geo;
    f.close();
  }
  bool parity() const { return GetParam().protection >= SCUTE_PROTECT_MLP; }
  // Where the first header of an object lies.
  uint64_t header_of(scute_oid oid) {
    f.open(SCUTE_READONLY);
    const uint64_t at = f.in().heap->zones().locate(f.offset_of(oid)).header;
    f.close();
    return at;
  }
  void noise(uint64_t offset, size_t n) {
    bytes b = pattern(offset, n);
    write_at(f.path, offset, b.data(), b.size());
  }
  void flip(uint64_t offset, unsigned char bits) {
    bytes b = read_at(f.path, offset, 1);
    b[0] ^= bits;
    write_at(f.path, offset, b.data(), 1);
  }
  // The code that it ends with, and the objects that it reported.
  int enumerate(uint32_t type, std::set<scute_oid>& reported) {
    reported.clear();
    scute_oid oid = 0;
    int e = scute_first(f, type, &oid);
    for (; e == SCUTE_OK && oid != 0; e = scute_next(f, oid, type, &oid)) {
      EXPECT_TRUE(reported.insert(oid).second) << "reported twice";
      EXPECT_EQ(std::count(all.begin(), all.end(), oid), 1) << "no object";
    }
    EXPECT_EQ(oid, 0u);
    return e;
  }
  void expect_all() {
    std::set<scute_oid> reported;
    EXPECT_EQ(SCUTE_OK, enumerate(SCUTE_TYPE_ANY, reported)) << scute_errormsg();
    EXPECT_EQ(reported.size(), all.size());
    EXPECT_EQ(SCUTE_OK, enumerate(even, reported)) << scute_errormsg();
    EXPECT_EQ(reported.size(), 501u);
    EXPECT_EQ(SCUTE_OK, enumerate(odd, reported)) << scute_errormsg();
    EXPECT_EQ(reported.size(), 500u);
  }
  void expect_some(const std::string& message) {
    for (int round = 0; round < 2; ++round)
      for (const uint32_t type : {SCUTE_TYPE_ANY, even, odd}) {
        std::set<scute_oid> reported;
        EXPECT_EQ(SCUTE_E_CORRUPT, enumerate(type, reported));
        EXPECT_NE(std::string(scute_errormsg()).find(message), std::string::npos)
            << scute_errormsg();
        EXPECT_LT(reported.size(), all.size());
        EXPECT_GT(reported.size(), 100u);
      }
  }

  pool_file f;
  pool::geometry g;
  std::vector<scute_oid> all;
  scute_oid large = 0;
};

// ENUM-1.
TEST_P(enumeration, OverAPageOfNoise) {
  noise((header_of(all[500]) & ~uint64_t{4095}), 4096);
  for (const uint32_t flags : {uint32_t{SCUTE_READONLY}, uint32_t{0}}) {
    f.open(flags);
    if (parity())
      expect_all();
    else
      expect_some("may hold an object of this type are damaged beyond repair");
    f.close();
  }
}

// A slot that seems to be free, and one that seems to be of the other type. (ENUM-1, ENUM-2)
TEST_P(enumeration, OverASingleBit) {
  const uint64_t freed = header_of(all[300]) + 13, retyped = header_of(all[700]) + 4;
  flip(freed, 3);
  flip(retyped, static_cast<unsigned char>(even ^ odd));
  f.open();
  if (parity()) return expect_all();
  expect_some("headers of ");
  std::set<scute_oid> reported;
  enumerate(SCUTE_TYPE_ANY, reported);
  EXPECT_EQ(reported.size(), all.size() - 1) << "objects that look live are reported";
  EXPECT_NE(std::string(scute_errormsg()).find("headers of 1 slot"), std::string::npos)
      << scute_errormsg();
}

TEST_P(enumeration, OverALargeObject) {
  noise(header_of(large), 32);
  f.open();
  if (parity())
    expect_all();
  else
    expect_some("headers of 1 slot");
}

// Beyond the redundancy: both the slots and their parities. (ENUM-3)
TEST_P(enumeration, SaysHowMuchIsLost) {
  const uint64_t page = header_of(all[500]) & ~uint64_t{4095};
  noise(page, 4096);
  const pool::cell c = pool::cell_of(g, page);
  for (uint32_t p = 0; p < g.parity; ++p)
    noise(pool::parity_offset(g, c.zone, c.column & ~uint64_t{4095}, p), 4096);
  f.open();
  expect_some("may hold an object of this type are damaged beyond repair");
  // No one knows which objects the chunk held.
  const uint64_t chunk = (page - g.chunk_offset(c.zone, 0)) >> g.chunk_shift;
  f.close();
  const uint64_t header = g.chunk_header_offset(c.zone, static_cast<uint32_t>(chunk));
  noise(header, 64);
  const pool::cell h = pool::cell_of(g, header);
  for (uint32_t p = 0; p < g.parity; ++p) noise(pool::parity_offset(g, h.zone, h.column, p), 64);
  f.open();
  expect_some("headers of 1 chunk of objects");
}

// A check counts what is there, whether it may repair it or not; a scrub as well.
TEST_P(enumeration, TheCountOfACheck) {
  if (!parity()) return;
  noise((header_of(all[500]) & ~uint64_t{4095}), 4096);
  f.open(SCUTE_READONLY);
  EXPECT_EQ(f.objects(), all.size());
  f.close();
  f.open(SCUTE_LAZY_RECOVERY);
  if (GetParam().protection == SCUTE_PROTECT_MLPC) {
    scute_report r{};
    r.struct_size = sizeof r;
    scute_scrub_options o;
    scute_scrub_options_init(&o);
    SCUTE_OKAY(scute_scrub(f, &o, &r));
    EXPECT_EQ(r.objects, all.size());
    EXPECT_GT(r.repaired, 10u);
  } else {
    EXPECT_EQ(f.check(true).objects, all.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Level, enumeration, every_protection, protection_name);

}  // namespace
}  // namespace scute::test
