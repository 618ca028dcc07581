// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: ranges in place of small objects, which go a short way of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class spec_in_place : public testing::TestWithParam<scute_protection> {
 protected:
  spec_in_place() {
    scute_options o = options(32 * mib, {GetParam(), SCUTE_ENGINE_SPEC});
    o.lanes = 4;
    o.log_cap = mib;
    pool_.create(o);
  }
  static void fill(scute_tx* tx, scute_oid oid, uint64_t offset, uint64_t n, int with) {
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oid, offset, n, &at));
    std::memset(at, with, n);
  }

  pool_file pool_;
};

// SPEC-2: the first range of an object takes a fence, for its undo record; later ones rest on the
//         records of the first.
TEST_P(spec_in_place, TakesTheShortWayAndOneFenceOnceItIsLogged) {
  pool_.in()
      .idle.stop();  // a checkpoint makes the log forget what it has, and has fences of its own
  const scute_oid oid = pool_.alloc(bytes(256, 1));
  SCUTE_OKAY(scute_drain(pool_));
  std::vector<unsigned char> should = bytes(256, 1);
  for (int k = 0; k < 20; ++k) {
    const scute_counters before = pool_.stats();
    {
      transaction tx(pool_);
      fill(tx, oid, 64, 64, 2 + k);
      fill(tx, oid, 136, 9, 3 + k);
      SCUTE_OKAY(tx.commit());
    }
    const scute_counters after = pool_.stats();
    EXPECT_EQ(after.shorts - before.shorts, 1U);
    if (k != 0) {
      EXPECT_EQ(after.fences - before.fences, 1U);
    }
    std::memset(should.data() + 64, 2 + k, 64);
    std::memset(should.data() + 136, 3 + k, 9);
  }
  EXPECT_EQ(pool_.read(oid), should);
  pool_.reopen();
  EXPECT_EQ(pool_.read(oid), should);
  pool_.expect_sound();
}

TEST_P(spec_in_place, GoesWithNewFreedAndBufferedObjects) {
  const scute_oid ranged = pool_.alloc(bytes(100, 1)), freed = pool_.alloc(bytes(100, 2)),
                  whole = pool_.alloc(bytes(100, 3));
  scute_oid fresh = 0;
  for (const bool commits : {false, true}) {
    transaction tx(pool_);
    void* at = nullptr;
    fill(tx, ranged, 10, 20, 7);
    SCUTE_OKAY(scute_tx_alloc(tx, 64, 1, &fresh, &at));
    std::memset(at, 8, 64);
    SCUTE_OKAY(scute_tx_open(tx, whole, &at));
    std::memset(at, 9, 100);
    fill(tx, ranged, 50, 1, 6);
    SCUTE_OKAY(scute_tx_free(tx, freed));
    if (commits) {
      SCUTE_OKAY(tx.commit());
    } else {
      scute_tx_abort(tx);
      EXPECT_EQ(pool_.read(ranged), bytes(100, 1));
      EXPECT_EQ(pool_.read(whole), bytes(100, 3));
      EXPECT_EQ(pool_.read(freed), bytes(100, 2));
      pool_.expect_sound();
    }
  }
  std::vector<unsigned char> should = bytes(100, 1);
  std::memset(should.data() + 10, 7, 20);
  should[50] = 6;
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(pool_.read(ranged), should);
    EXPECT_EQ(pool_.read(whole), bytes(100, 9));
    EXPECT_EQ(pool_.read(fresh), bytes(64, 8));
    pool_.expect_sound();
    pool_.reopen();
  }
}

// Nothing but its header is known of a freed object: its size is of no meaning, and may be one of a
// transaction before.
TEST_P(spec_in_place, AFreedObjectBeforeTheRangeIsIgnored) {
  const scute_oid large = pool_.alloc(bytes(4000, 5));
  std::vector<scute_oid> freed, ranged;
  for (int k = 0; k < 8; ++k) {
    freed.push_back(pool_.alloc(bytes(100, 1)));
    ranged.push_back(pool_.alloc(bytes(100, 2)));
  }
  for (int k = 0; k < 8; ++k) {
    {
      transaction tx(pool_);
      void* at = nullptr;
      SCUTE_OKAY(scute_tx_open(tx, large, &at));
      std::memset(at, 10 + k, 4000);
      SCUTE_OKAY(tx.commit());
    }
    transaction tx(pool_);
    SCUTE_OKAY(scute_tx_free(tx, freed[k]));
    fill(tx, ranged[k], 0, 100, 3);
    SCUTE_OKAY(tx.commit());
  }
  for (const scute_oid oid : ranged) EXPECT_EQ(pool_.read(oid), bytes(100, 3));
  pool_.reopen();
  for (const scute_oid oid : ranged) EXPECT_EQ(pool_.read(oid), bytes(100, 3));
  pool_.expect_sound();
}

// ROOM-6, ROOM-7: threads open more than the checkpoint keeps room for, and less, by turns; nothing
// is refused, and in the end the log keeps no more than before, so that a transaction larger than
// the log can borrow and give back.
TEST_P(spec_in_place, ThreadsReserveAndGiveBack) {
  constexpr unsigned threads = 4, objects = 12, rounds = 60;
  constexpr uint64_t size = 3000;
  const uint64_t cap = pool_.info().log_cap;
  std::vector<std::vector<scute_oid>> oids(threads);
  for (auto& mine : oids)
    for (unsigned i = 0; i < objects; ++i) mine.push_back(pool_.alloc(bytes(size, 0)));
  std::vector<std::thread> crew;
  for (unsigned t = 0; t < threads; ++t)
    crew.emplace_back([&, t] {
      for (unsigned round = 1; round <= rounds; ++round) {
        transaction tx(pool_);
        const unsigned n = round % 3 == 0 ? objects : 1;
        for (unsigned i = 0; i < n; ++i) fill(tx, oids[t][i], 100, 2500, static_cast<int>(round));
        if (round % 5 == 0)
          scute_tx_abort(tx);
        else
          SCUTE_OKAY(tx.commit());
      }
    });
  for (std::thread& each : crew) each.join();
  // The last rounds that committed: 59 for the first object, 57 for the others.
  for (const auto& mine : oids)
    for (unsigned i = 0; i < objects; ++i) {
      std::vector<unsigned char> should = bytes(size, 0);
      std::memset(should.data() + 100, i == 0 ? 59 : 57, 2500);
      EXPECT_EQ(pool_.read(mine[i]), should);
    }
  const scute_oid large = pool_.alloc(bytes(3 * mib, 1)), small = pool_.alloc(bytes(64, 1));
  {
    transaction tx(pool_);
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, large, &at));
    std::memset(at, 2, 3 * mib);
    SCUTE_OKAY(tx.commit());
  }
  // A checkpoint in the background may be at it just then.
  for (int k = 0; k < 50 && (k < 3 || pool_.info().log_cap != cap); ++k) {
    SCUTE_OKAY(scute_drain(pool_));
    transaction tx(pool_);
    fill(tx, small, 0, 64, k);
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_EQ(pool_.info().log_cap, cap);
  pool_.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Levels, spec_in_place,
                         testing::Values(SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP,
                                         SCUTE_PROTECT_MLPC),
                         [](const auto& each) {
                           switch (each.param) {
                             case SCUTE_PROTECT_NONE: return "none";
                             case SCUTE_PROTECT_ML: return "ml";
                             case SCUTE_PROTECT_MLP: return "mlp";
                             default: return "mlpc";
                           }
                         });

}  // namespace
}  // namespace scute::test
