// SPDX-License-Identifier: BSD-3-Clause
// scute_tx_inplace: stores straight to the pool, undone unless the transaction commits.
#include <gtest/gtest.h>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class in_place : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override { f.create(4 * mib, GetParam()); }
  unsigned char* range(scute_tx* tx, scute_oid oid, uint64_t offset, uint64_t n) {
    void* p = nullptr;
    SCUTE_OKAY_E(scute_tx_inplace(tx, oid, offset, n, &p));
    return static_cast<unsigned char*>(p);
  }
  pool_file f;
};

TEST_P(in_place, CommitKeepsTheStores) {
  bytes want = pattern(1, 256);
  const scute_oid oid = f.alloc(want);
  transaction tx(f);
  unsigned char* p = range(tx, oid, 8, 16);
  ASSERT_EQ(p, static_cast<const unsigned char*>(static_cast<void*>(f.raw(f.offset_of(oid)))) + 8);
  std::memset(p, 7, 16);
  std::memset(want.data() + 8, 7, 16);
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.read(oid), want);
  f.expect_sound();
  f.reopen();
  EXPECT_EQ(f.read(oid), want);
}

TEST_P(in_place, AbortBringsTheOldBytesBack) {
  const bytes want = pattern(1, 9000);
  const scute_oid oid = f.alloc(want);
  transaction tx(f);
  std::memset(range(tx, oid, 0, 9000), 7, 9000);
  SCUTE_OKAY(tx.abort());
  EXPECT_EQ(f.read(oid), want);
  f.expect_sound();
}

TEST_P(in_place, SecondRangeOfAFragmentKeepsTheStoresOfTheFirst) {
  bytes want = pattern(1, 256);
  const scute_oid oid = f.alloc(want);
  transaction tx(f);
  std::memset(range(tx, oid, 0, 8), 7, 8);
  std::memset(range(tx, oid, 100, 8), 8, 8);
  std::memset(want.data(), 7, 8);
  std::memset(want.data() + 100, 8, 8);
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.read(oid), want);
  f.expect_sound();
}

TEST_P(in_place, MicroBufferRangeNextToIt) {
  bytes want = pattern(1, 256);
  const scute_oid oid = f.alloc(want);
  transaction tx(f);
  std::memset(range(tx, oid, 0, 8), 7, 8);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_add_range(tx, oid, 100, 8, &p));
  EXPECT_EQ(0, std::memcmp(p, want.data() + 100, 8));
  std::memset(p, 8, 8);
  std::memset(want.data(), 7, 8);
  std::memset(want.data() + 100, 8, 8);
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.read(oid), want);
  f.expect_sound();
}

TEST_P(in_place, RangesOverlapAndRepeat) {
  bytes want = pattern(1, 5000);
  const scute_oid oid = f.alloc(want);
  for (const bool keep : {false, true}) {
    transaction tx(f);
    std::memset(range(tx, oid, 100, 100), 1, 100);
    std::memset(range(tx, oid, 150, 100), 2, 100);
    std::memset(range(tx, oid, 50, 300), 3, 300);
    std::memset(range(tx, oid, 120, 10), 4, 10);
    std::memset(range(tx, oid, 4090, 20), 5, 20);
    if (!keep) {
      SCUTE_OKAY(tx.abort());
      EXPECT_EQ(f.read(oid), want);
      continue;
    }
    std::memset(want.data() + 50, 3, 300);
    std::memset(want.data() + 120, 4, 10);
    std::memset(want.data() + 4090, 5, 20);
    SCUTE_OKAY(tx.commit());
    EXPECT_EQ(f.read(oid), want);
  }
  f.expect_sound();
}

TEST_P(in_place, WhatIsBufferedAlreadyStaysBuffered) {
  const bytes was = pattern(1, 256);
  const scute_oid oid = f.alloc(was);
  transaction tx(f);
  void *buffer = nullptr, *fresh = nullptr;
  SCUTE_OKAY(scute_tx_add_range(tx, oid, 0, 100, &buffer));
  EXPECT_EQ(range(tx, oid, 10, 20), static_cast<unsigned char*>(buffer) + 10);
  scute_oid own = 0;
  SCUTE_OKAY(scute_tx_alloc(tx, 64, 1, &own, &fresh));
  EXPECT_EQ(range(tx, own, 4, 8), static_cast<unsigned char*>(fresh) + 4);
}

TEST_P(in_place, MixesThatMakeNoSenseAreRefused) {
  const scute_oid oid = f.alloc(pattern(1, 256));
  transaction tx(f);
  range(tx, oid, 0, 100);
  void* p = nullptr;
  const void* q = nullptr;
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_open(tx, oid, &p));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_free(tx, oid));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_add_range(tx, oid, 50, 100, &p));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_inplace(tx, oid, 50, 0, &p));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_inplace(tx, oid, 200, 57, &p));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_inplace(tx, oid, UINT64_MAX, 2, &p));
  SCUTE_OKAY(scute_tx_add_range(tx, oid, 150, 10, &p));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_get(tx, oid, &q));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_get_range(tx, oid, 90, 70, &q));
  SCUTE_OKAY(scute_tx_get_range(tx, oid, 10, 20, &q));
  SCUTE_OKAY(tx.abort());
  f.expect_sound();
}

TEST_P(in_place, RangeLargerThanTheLane) {
  bytes want = pattern(1, 300000);
  const scute_oid oid = f.alloc(want);
  ASSERT_NE(oid, 0u);
  for (const bool keep : {false, true}) {
    const uint64_t free_before = f.info().chunks_free;
    uint64_t fits = 0, fits_later = 0;
    SCUTE_OKAY(scute_overwrite_max(f, &fits));
    // Undo records of it, and then its new bytes.
    const uint64_t n = std::min<uint64_t>(250000, fits / 3);
    transaction tx(f);
    std::memset(range(tx, oid, 1000, n), 9, n);
    if (keep) {
      std::memset(want.data() + 1000, 9, n);
      SCUTE_OKAY(tx.commit());
    } else {
      SCUTE_OKAY(tx.abort());
    }
    EXPECT_EQ(f.read(oid), want);
    // The log of engine spec keeps what it was lent until objects, or its next turn, need it.
    if (GetParam().engine != SCUTE_ENGINE_SPEC) {
      EXPECT_EQ(f.info().chunks_free, free_before);
    }
    SCUTE_OKAY(scute_overwrite_max(f, &fits_later));
    EXPECT_EQ(fits_later, fits);
    f.expect_sound();
  }
}

TEST_P(in_place, ManyRangesInOneTransaction) {
  bytes want = pattern(1, 64000);
  const scute_oid oid = f.alloc(want);
  transaction tx(f);
  for (uint64_t i = 0; i < 500; ++i) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oid, i * 128, 8, &p));
    std::memset(p, static_cast<int>(i), 8);
    std::memset(want.data() + i * 128, static_cast<int>(i), 8);
  }
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.read(oid), want);
  f.expect_sound();
}

TEST_P(in_place, RandomMixesAgainstAModel) {
  SCUTE_RANDOM(random);
  bytes model = pattern(1, 20000);
  const scute_oid oid = f.alloc(model);
  for (int round = 0; round < 150; ++round) {
    bytes next = model;
    transaction tx(f);
    const uint64_t ranges = random.between(1, 6);
    for (uint64_t i = 0; i < ranges; ++i) {
      const uint64_t n = random.size(3000), at = random.between(0, next.size() - n);
      void* p = nullptr;
      const int e = random.one_in(2) ? scute_tx_inplace(tx, oid, at, n, &p)
                                     : scute_tx_add_range(tx, oid, at, n, &p);
      if (e == SCUTE_E_INVALID || e == SCUTE_E_NOSPC) continue;  // refused, without a trace
      SCUTE_OKAY(e);
      ASSERT_EQ(0, std::memcmp(p, next.data() + at, n)) << "round " << round;
      const bytes fresh = pattern(random.word(), n);
      std::memcpy(p, fresh.data(), n);
      std::memcpy(next.data() + at, fresh.data(), n);
    }
    if (random.one_in(3)) {
      SCUTE_OKAY(tx.abort());
    } else {
      SCUTE_OKAY(tx.commit());
      model = next;
    }
    ASSERT_EQ(f.read(oid), model) << "round " << round;
  }
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Protection, in_place, every_protection, protection_name);

}  // namespace
}  // namespace scute::test
