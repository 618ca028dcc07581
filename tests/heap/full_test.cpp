// SPDX-License-Identifier: BSD-3-Clause
// Pools filled to the brim, emptied, and filled again with the same or with something else.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class full : public testing::Test {
 protected:
  // Objects of n bytes until there is no room for another, or for the log of one that is larger
  // than a lane: one by one, since a long transaction would need more room for its log.
  std::vector<scute_oid> fill(uint64_t n) {
    std::vector<scute_oid> oids;
    for (;;) {
      transaction tx(f);
      scute_oid oid = 0;
      void* p = nullptr;
      int e = scute_tx_alloc(tx, n, 1, &oid, &p);
      if (e == SCUTE_OK) e = tx.commit();
      if (e != SCUTE_OK) {
        EXPECT_EQ(e, SCUTE_E_NOSPC) << scute_errormsg();
        return oids;
      }
      oids.push_back(oid);
    }
  }
  void empty(std::vector<scute_oid> oids, random_source& random) {
    std::shuffle(oids.begin(), oids.end(), std::mt19937_64(random.word()));
    for (const scute_oid oid : oids) ASSERT_EQ(SCUTE_OK, f.free(oid)) << scute_errormsg();
  }
  pool_file f;
};

TEST_F(full, HoldsTheSameTheSecondTime) {
  SCUTE_RANDOM(random);
  for (const uint64_t n : {8, 100, 1000, 4000, 4500, 8000, 15000, 16384, 100000}) {
    SCOPED_TRACE(n);
    scute_close(f.pool);
    scute_options o = options(2 * mib);
    o.flags = SCUTE_OVERWRITE;
    SCUTE_OKAY(scute_create(f.path.c_str(), &o, &f.pool));
    auto oids = fill(n);
    const size_t count = oids.size();
    // Little of the object space stays unused.
    const auto info = f.info();
    EXPECT_GE(count * (n + 64) + 160000,
              (info.chunk_count * info.chunk_size - info.log_cap) * 3 / 5);
    for (int round = 0; round < 3; ++round) {
      empty(oids, random);
      EXPECT_EQ(f.objects(), 0u);
      if (round == 1) f.reopen();
      oids = fill(n);
      EXPECT_EQ(oids.size(), count);
    }
    f.expect_sound();
  }
}

TEST_F(full, SpaceGoesFromOneUseToAnother) {
  SCUTE_RANDOM(random);
  f.create(2 * mib);
  std::map<uint64_t, size_t> counts;
  for (int round = 0; round < 3; ++round)
    for (const uint64_t n : {30, 50000, 500, 4096, 200, 9000, 2000}) {
      const auto oids = fill(n);
      if (round == 0) counts[n] = oids.size();
      EXPECT_EQ(oids.size(), counts[n]) << n << " bytes, round " << round;
      empty(oids, random);
      f.expect_sound();
      if (random.one_in(3)) f.reopen();
    }
}

TEST_F(full, EveryOtherObjectFreed) {
  f.create(mib);
  for (const uint64_t n : {50, 700, 2500}) {
    auto oids = fill(n);
    std::vector<scute_oid> kept;
    for (size_t i = 0; i < oids.size(); ++i)
      if (i % 2 == 0)
        ASSERT_EQ(SCUTE_OK, f.free(oids[i]));
      else
        kept.push_back(oids[i]);
    const auto again = fill(n);
    EXPECT_EQ(again.size(), (oids.size() + 1) / 2);
    for (const auto oid : again) ASSERT_EQ(SCUTE_OK, f.free(oid));
    for (const auto oid : kept) ASSERT_EQ(SCUTE_OK, f.free(oid));
  }
  f.expect_sound();
}

TEST_F(full, AFullPoolCanStillBeChanged) {
  f.create(mib);
  auto oids = fill(1000);
  for (size_t i = 0; i < oids.size(); i += 7) f.overwrite(oids[i], pattern(i, 1000));
  for (size_t i = 0; i < oids.size(); i += 7) EXPECT_TRUE(f.read(oids[i]) == pattern(i, 1000));
  {
    // A free makes room only once it is durable.
    transaction tx(f);
    scute_oid oid = 0;
    SCUTE_OKAY(scute_tx_free(tx, oids[0]));
    SCUTE_FAILS(SCUTE_E_NOSPC, scute_tx_alloc(tx, 1000, 1, &oid, nullptr));
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_NE(f.alloc(pattern(1, 1000)), 0u);
  f.reopen();
  EXPECT_EQ(f.alloc(pattern(1, 1000)), 0u);
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
