// SPDX-License-Identifier: BSD-3-Clause
// Many threads on few lanes and few columns: transactions neither lose nor mix anything, and every
// column is consistent afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

struct crowd {
  unsigned threads, lanes;
  scute_protection protection;
  uint64_t object_size;
  int rounds;
};

class engine_threads : public testing::TestWithParam<crowd> {};

// Each thread owns some objects; all of them lie in the same few columns, in different rows.
// (LEASE-1, LEASE-2: more threads than lanes)
TEST_P(engine_threads, EachOwnsObjectsInSharedColumns) {
  SCUTE_RANDOM(random);
  const crowd c = GetParam();
  pool_file f;
  scute_options o = options(4 * mib, c.protection);
  o.lanes = c.lanes;
  o.rows = 20;  // short rows
  f.create(o);
  constexpr size_t each = 4;
  std::vector<scute_oid> oids;
  for (size_t i = 0; i < c.threads * each; ++i) {
    oids.push_back(f.alloc(bytes(c.object_size)));
    ASSERT_NE(oids.back(), 0u) << scute_errormsg();
  }
  std::vector<std::unique_ptr<random_source>> sources;
  for (unsigned t = 0; t < c.threads; ++t)
    sources.push_back(std::make_unique<random_source>(random));
  std::vector<std::vector<bytes>> models(c.threads, std::vector<bytes>(each, bytes(c.object_size)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < c.threads; ++t)
    threads.emplace_back([&, t] {
      random_source& mine = *sources[t];
      for (int i = 0; i < c.rounds && wrong == 0; ++i) {
        auto next = models[t];
        scute_tx* tx = nullptr;
        if (scute_tx_begin(f, &tx) != 0) ++wrong;
        for (uint64_t k = mine.between(1, 3); k != 0; --k) {
          const size_t which = mine.between(0, each - 1);
          const scute_oid oid = oids[which * c.threads + t];
          const uint64_t n = mine.size(c.object_size), at = mine.between(0, c.object_size - n);
          void* p = nullptr;
          const int e = mine.one_in(4) ? scute_tx_inplace(tx, oid, at, n, &p)
                                       : scute_tx_add_range(tx, oid, at, n, &p);
          if (e == SCUTE_E_INVALID || e == SCUTE_E_NOSPC) continue;
          if (e != 0 || std::memcmp(p, next[which].data() + at, n) != 0) {
            ++wrong;
            break;
          }
          const bytes fresh = pattern(mine.word(), n);
          std::memcpy(p, fresh.data(), n);
          std::memcpy(next[which].data() + at, fresh.data(), n);
        }
        if (mine.one_in(6)) {
          if (scute_tx_abort(tx) != 0) ++wrong;
        } else if (scute_tx_commit(tx) == 0) {
          models[t] = std::move(next);
        } else {
          ++wrong;
        }
        if (mine.one_in(50)) std::this_thread::yield();
      }
    });
  for (auto& t : threads) t.join();
  ASSERT_EQ(wrong, 0);
  for (const bool again : {false, true}) {
    if (again) f.reopen();
    f.expect_sound();
    for (unsigned t = 0; t < c.threads; ++t)
      for (size_t k = 0; k < each; ++k)
        EXPECT_TRUE(f.read(oids[k * c.threads + t]) == models[t][k]);
  }
}

INSTANTIATE_TEST_SUITE_P(Crowd, engine_threads,
                         testing::Values(crowd{2, 2, SCUTE_PROTECT_MLPC, 64, 2000},
                                         crowd{8, 4, SCUTE_PROTECT_MLPC, 200, 500},
                                         crowd{16, 3, SCUTE_PROTECT_MLPC, 5000, 60},
                                         crowd{64, 7, SCUTE_PROTECT_MLPC, 100, 60},
                                         crowd{8, 8, SCUTE_PROTECT_MLP, 300, 300},
                                         crowd{8, 8, SCUTE_PROTECT_NONE, 300, 300},
                                         crowd{4, 1, SCUTE_PROTECT_ML, 300, 300}));

TEST(lanes, AThreadWaitsForOneThatSleepsInATransaction) {
  pool_file f;
  scute_options o = options();
  o.lanes = 1;
  f.create(o);
  std::atomic<bool> committed{false};
  std::optional<waiting_thread> waiter;
  {
    transaction tx(f);
    waiter.emplace([&] {
      EXPECT_NE(f.alloc(pattern(1, 10)), 0u);
      committed = true;
    });
    EXPECT_TRUE(waiter->comes_to_wait());
    EXPECT_FALSE(committed);
    SCUTE_OKAY(tx.commit());
  }
  waiter->join();
  EXPECT_TRUE(committed);
  EXPECT_EQ(f.objects(), 1u);
}

TEST(lanes, CountersAreKeptPerLane) {
  pool_file f;
  scute_options o = options();
  o.lanes = 2;
  f.create(o);
  EXPECT_EQ(scute_thread_lane(f), SCUTE_E_NOENT);
  for (int i = 0; i < 5; ++i) f.alloc(pattern(1, 100));
  const int lane = scute_thread_lane(f);
  ASSERT_GE(lane, 0);
  scute_counters mine{}, other{};
  mine.struct_size = other.struct_size = sizeof mine;
  SCUTE_OKAY(scute_stats_lane(f, static_cast<uint32_t>(lane), &mine));
  SCUTE_OKAY(scute_stats_lane(f, static_cast<uint32_t>(1 - lane), &other));
  EXPECT_EQ(mine.transactions, 5u);
  EXPECT_EQ(mine.allocs, 5u);
  EXPECT_EQ(other.transactions, 0u);
  SCUTE_FAILS(SCUTE_E_RANGE, scute_stats_lane(f, 2, &mine));
}

}  // namespace
}  // namespace scute::test
