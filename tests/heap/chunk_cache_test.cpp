// SPDX-License-Identifier: BSD-3-Clause
// Chunks that stay lent between two logs (core/heap/chunk_cache.hpp).
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class chunk_cache : public testing::TestWithParam<pool_kind> {
 protected:
  static bool log_free() { return GetParam().engine == SCUTE_ENGINE_LOGFREE; }
  // An object of so many rows and a half.
  void start(uint64_t size = 8 * mib, uint64_t rows = 1) {
    f.create(size, GetParam());
    f.in().idle.stop();  // a drain has fences of its own
    n = f.in().s.geo.row_size * (2 * rows + 1) / 2;
    oid = f.alloc(pattern(1, n));
    ASSERT_NE(oid, 0u) << scute_errormsg();
  }
  uint64_t cached_chunks() const { return f.in().heap->cached_chunks(); }
  uint64_t lent() const { return f.in().heap->lent(); }

  pool_file f;
  uint64_t n = 0;
  scute_oid oid = 0;
};

TEST_P(chunk_cache, LaterLogsTakeNoSteps) {
  // More cells of one column than there are parities, so at any level it takes a log.
  const uint64_t rows = std::max(1u, GetParam().parity);
  start(8 * mib, rows);
  const uint64_t part = f.in().s.geo.chunk_size * 3 / 4;
  const auto change = [&](unsigned k) {
    transaction tx(f);
    const bytes fresh = pattern(k, part);
    for (uint64_t row = 0; row <= rows; ++row) {
      void* p = nullptr;
      const uint64_t at = 100 + row * f.in().s.geo.row_size;
      SCUTE_OKAY(scute_tx_add_range(tx, oid, at, part, &p));
      std::memcpy(p, fresh.data(), part);
    }
    SCUTE_OKAY(tx.commit());
  };
  change(2);
  const auto before = f.stats();
  const uint64_t free = f.info().chunks_free, chunks = lent();
  EXPECT_GT(chunks, 0u);
  EXPECT_EQ(cached_chunks(), chunks);
  constexpr unsigned times = 10;
  for (unsigned k = 0; k < times; ++k) change(3 + k);
  const auto after = f.stats();
  EXPECT_EQ(after.fallbacks - before.fallbacks, times);
  // The steps are decided, applied, and noted before a log gets the chain. A log-free pool has the
  // same fences.
  EXPECT_EQ(after.fences - before.fences, 3 * times);
  EXPECT_EQ(f.info().chunks_free, free);
  EXPECT_EQ(lent(), chunks);
  f.expect_sound();
}

// Of CCACHE-3.
TEST_P(chunk_cache, ClosedPoolsHaveNothingLent) {
  start();
  f.overwrite(oid, pattern(2, n));
  const uint64_t free = f.info().chunks_free;
  uint64_t fits = 0, later = 0;
  SCUTE_OKAY(scute_overwrite_max(f, &fits));
  f.reopen();
  EXPECT_EQ(f.info().clean, 1);
  EXPECT_EQ(lent(), 0u);
  EXPECT_EQ(f.info().chunks_free, free);
  SCUTE_OKAY(scute_overwrite_max(f, &later));
  EXPECT_EQ(later, fits);
  EXPECT_TRUE(f.read(oid) == pattern(2, n));
  f.expect_sound();
}

TEST_P(chunk_cache, HasAnEnd) {
  start(32 * mib);
  const auto& g = f.in().s.geo;
  const uint64_t room = std::min<uint64_t>(uint64_t{g.chunks} * g.zone_count / 4, 64);
  const uint64_t large = 4 * mib;
  const scute_oid other = f.alloc(pattern(3, large));
  ASSERT_NE(other, 0u) << scute_errormsg();
  const uint64_t free = f.info().chunks_free;
  for (unsigned k = 0; k < 3; ++k) {
    f.overwrite(other, pattern(4 + k, large));
    EXPECT_LE(cached_chunks(), room);
    EXPECT_EQ(lent(), cached_chunks());
    EXPECT_EQ(f.info().chunks_free, free);
  }
  EXPECT_TRUE(f.read(other) == pattern(6, large));
  f.expect_sound();
}

// Of CCACHE-3, of runs and of spans.
TEST_P(chunk_cache, GivesWayToObjects) {
  for (const uint64_t size : {uint64_t{200}, uint64_t{40000}}) {
    f.close();
    std::filesystem::remove(f.path);
    start(2 * mib);
    const auto fill = [&] {
      std::vector<scute_oid> all;
      for (;;) {
        const scute_oid one = f.alloc(pattern(9, size));
        if (one == 0) return all;
        all.push_back(one);
      }
    };
    const auto first = fill();
    for (const scute_oid one : first) ASSERT_EQ(SCUTE_OK, f.free(one)) << scute_errormsg();
    f.reopen();
    f.overwrite(oid, pattern(2, n / 2));
    ASSERT_EQ(lent(), cached_chunks());
    const auto second = fill();
    EXPECT_EQ(second.size(), first.size());
    EXPECT_EQ(cached_chunks(), 0u);
    for (const scute_oid one : second) ASSERT_EQ(SCUTE_OK, f.free(one)) << scute_errormsg();
    f.expect_sound();
  }
}

// Chunks that a crash leaves lent belong to no log.
TEST_P(chunk_cache, IsFreeAfterACrash) {
  start();
  f.overwrite(oid, pattern(2, n));
  const uint64_t free = f.info().chunks_free;
  pool_file after;
  std::filesystem::copy_file(f.path, after.path);
  after.open();
  EXPECT_EQ(after.info().clean, 0);
  EXPECT_EQ(after.in().heap->lent(), 0u);
  EXPECT_EQ(after.info().chunks_free, free);
  EXPECT_TRUE(after.read(oid) == pattern(2, n));
  after.expect_sound();
  after.overwrite(oid, pattern(3, n));
  after.reopen();
  EXPECT_EQ(after.info().clean, 1);
  EXPECT_TRUE(after.read(oid) == pattern(3, n));
}

// Threads in a small pool, each with an object whose log overflows, and others until there is no
// room.
TEST_P(chunk_cache, ThreadsInASmallPool) {
  SCUTE_RANDOM(random);
  f.create(4 * mib, GetParam());
  constexpr unsigned threads = 4;
  std::atomic<unsigned> refused{0}, done{0};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t, seed = random.word()] {
      random_source mine(seed);
      const scute_oid own = f.alloc(pattern(t, 30000));
      ASSERT_NE(own, 0u) << scute_errormsg();
      std::vector<scute_oid> more;
      for (unsigned k = 0; k < 150; ++k) {
        {
          transaction tx(f);
          void* p = nullptr;
          SCUTE_OKAY(scute_tx_open(tx, own, &p));
          std::memcpy(p, pattern(1000 * t + k, 30000).data(), 30000);
          const int e = tx.commit();
          if (e != SCUTE_OK) {
            ASSERT_EQ(e, SCUTE_E_NOSPC) << scute_errormsg();
          }
          ++(e == SCUTE_OK ? done : refused);
        }
        const scute_oid one = f.alloc(pattern(k, mine.between(5000, 65000)));
        if (one != 0) more.push_back(one);
        if (one != 0 && !mine.one_in(8)) continue;
        for (const scute_oid x : more) ASSERT_EQ(SCUTE_OK, f.free(x)) << scute_errormsg();
        more.clear();
      }
      for (const scute_oid x : more) ASSERT_EQ(SCUTE_OK, f.free(x)) << scute_errormsg();
    });
  for (auto& t : all) t.join();
  EXPECT_GT(done.load(), refused.load());
  EXPECT_EQ(f.objects(), threads);
  EXPECT_EQ(lent(), cached_chunks());
  f.expect_sound();
  f.reopen();
  EXPECT_EQ(f.info().clean, 1);
  EXPECT_EQ(lent(), 0u);
  f.expect_sound();
}

// With engine spec nothing is in the chunk cache: its log lends for itself
// (engine/spec_room_test.cpp).
INSTANTIATE_TEST_SUITE_P(Protection, chunk_cache,
                         testing::Values(pool_kind(SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 3)),
                         protection_name);

}  // namespace
}  // namespace scute::test
