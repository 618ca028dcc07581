// SPDX-License-Identifier: BSD-3-Clause
// A header whose size has a flipped bit says more or fewer bytes than the object has. Every read
// that repairs the object gives all of it, and none reports that it has been freed (VERIFY-3).
#include <gtest/gtest.h>

#include <cstring>

#include "core/layout/format.hpp"
#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint64_t size = 20000;  // 0x4e20, in a slot with room for another fragment

class damaged_size : public testing::TestWithParam<std::tuple<scute_policy, uint64_t>> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib);
    o.policy = std::get<0>(GetParam());
    f.create(o);
    oid = f.alloc(content);
    SCUTE_OKAY(scute_drain(f));
    const heap::object at = f.in().heap->zones().locate(f.offset_of(oid));
    ASSERT_GT(at.room, size ^ 0x1000);
    format::fragment_header h;
    std::memcpy(&h, f.raw(at.header), sizeof h);
    ASSERT_EQ(format::meta_size(h.meta), size);
    h.meta ^= format::make_meta(size, format::role::live, 0) ^
              format::make_meta(size ^ std::get<1>(GetParam()), format::role::live, 0);
    std::memcpy(f.raw(at.header), &h, sizeof h);
    // And a byte of a later fragment.
    *f.raw(f.offset_of(oid) + 13000) ^= std::byte{1};
  }
  bool repairs_reads() const { return std::get<0>(GetParam()) == SCUTE_POLICY_CONSERVATIVE; }
  void expect_repaired() {
    EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
  }

  const bytes content = pattern(1, size);
  known_pool f;
  scute_oid oid = 0;
};

TEST_P(damaged_size, OpenedWhole) {
  transaction tx(f);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, oid, &p));
  EXPECT_EQ(0, std::memcmp(p, content.data(), size));
  SCUTE_OKAY(tx.commit());
  expect_repaired();
}

TEST_P(damaged_size, OpenedForARange) {
  for (const uint64_t from : {0, 4000, 12000, 19000}) {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oid, from, 1000, &p));
    EXPECT_EQ(0, std::memcmp(p, content.data() + from, 1000)) << from;
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_EQ(f.check(true).lost, 0U);
  expect_repaired();
}

TEST_P(damaged_size, ReadInATransaction) {
  transaction tx(f);
  const void* p = nullptr;
  SCUTE_OKAY(scute_tx_get(tx, oid, &p));
  if (repairs_reads()) {
    EXPECT_EQ(0, std::memcmp(p, content.data(), size));
  }
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.check(true).lost, 0U);
  expect_repaired();
}

TEST_P(damaged_size, RangesReadInATransaction) {
  for (const uint64_t from : {19000, 12500, 0}) {
    transaction tx(f);
    const void* p = nullptr;
    SCUTE_OKAY(scute_tx_get_range(tx, oid, from, 1000, &p));
    if (repairs_reads()) {
      EXPECT_EQ(0, std::memcmp(p, content.data() + from, 1000)) << from;
    }
    if (repairs_reads()) {
      EXPECT_EQ(SCUTE_E_RANGE, scute_tx_get_range(tx, oid, 0, size + 1, &p));
    }
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_EQ(f.check(true).lost, 0U);
  expect_repaired();
}

TEST_P(damaged_size, ReadOutsideOfTransactions) {
  const void* p = nullptr;
  if (repairs_reads()) {
    p = scute_get(f, oid);
    ASSERT_NE(p, nullptr) << scute_errormsg();
    EXPECT_EQ(0, std::memcmp(p, content.data(), size));
  }
  SCUTE_OKAY(scute_get_verified(f, oid, &p));
  EXPECT_EQ(0, std::memcmp(p, content.data(), size));
  expect_repaired();
}

INSTANTIATE_TEST_SUITE_P(More, damaged_size,
                         testing::Combine(testing::Values(SCUTE_POLICY_DEFAULT,
                                                          SCUTE_POLICY_CONSERVATIVE),
                                          testing::Values(0x1000U)));
INSTANTIATE_TEST_SUITE_P(Less, damaged_size,
                         testing::Combine(testing::Values(SCUTE_POLICY_DEFAULT,
                                                          SCUTE_POLICY_CONSERVATIVE),
                                          testing::Values(0x4000U)));

}  // namespace
}  // namespace scute::test
