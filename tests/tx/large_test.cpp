// SPDX-License-Identifier: BSD-3-Clause
// Transactions that are large in some way: many objects, long logs, objects beyond a row, no room.
#include <gtest/gtest.h>

#include <map>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class large : public testing::TestWithParam<pool_kind> {
 protected:
  static bool log_free() { return GetParam().engine == SCUTE_ENGINE_LOGFREE; }
  // Its log is not that of a lane, and takes chunks from the beginning.
  static bool spec() { return GetParam().engine == SCUTE_ENGINE_SPEC; }
  pool_file f;
  void* p = nullptr;
  scute_oid oid = 0;
};

// SEAL-2: a commit costs what it changes.
TEST_P(large, SmallEditOfALargeObjectStaysSmall) {
  f.create(64 * mib, GetParam());
  constexpr uint64_t n = 10 * mib;
  bytes want = pattern(1, n);
  oid = f.alloc(want);
  ASSERT_NE(oid, 0u) << scute_errormsg();
  f.in().idle.stop();
  SCUTE_OKAY(scute_drain(f));
  const auto before = f.stats();
  for (uint64_t i = 0; i < 10; ++i) {
    transaction tx(f);
    const uint64_t at = i * 1000003 % (n - 8);
    SCUTE_OKAY(scute_tx_add_range(tx, oid, at, 8, &p));
    std::memset(p, 0xa0 + static_cast<int>(i), 8);
    std::memset(want.data() + at, 0xa0 + static_cast<int>(i), 8);
    SCUTE_OKAY(tx.commit());
  }
  const auto after = f.stats();
  EXPECT_LE(after.bytes_data - before.bytes_data, 10 * 8u);
  EXPECT_LE(after.bytes_metadata - before.bytes_metadata, 10 * 2 * 32u);
  EXPECT_LE(after.bytes_parity - before.bytes_parity, 10 * 3 * 64u);
  EXPECT_LE(after.bytes_log - before.bytes_log, 10 * 2 * 512u);
  EXPECT_LE(after.verified_bytes - before.verified_bytes, 10 * 2 * 4096u);
  EXPECT_EQ(after.fences - before.fences, log_free() || spec() ? 10u : 10 * 2u);
  if (log_free()) {
    EXPECT_EQ(after.bytes_log - before.bytes_log, 0u);
  }
  EXPECT_TRUE(f.read(oid) == want);
}

// An object that can be allocated, since new ones are prewritten, and not overwritten at once: the
// pool cannot hold the log. The error says how much fits, the accessor says so beforehand, and it
// does fit.
TEST_P(large, AnOverwriteThatFindsNoRoomForItsLog) {
  f.create(32 * mib, GetParam());
  constexpr uint64_t n = 20 * mib;
  const bytes old = pattern(1, n);
  oid = f.alloc(old);
  ASSERT_NE(oid, 0u) << scute_errormsg();
  uint64_t fits = 0;
  SCUTE_OKAY(scute_overwrite_max(f, &fits));
  EXPECT_LT(fits, n);
  EXPECT_GT(fits, 2 * mib);
  const auto before = f.stats();
  {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    std::memcpy(p, pattern(2, n).data(), n);
    SCUTE_FAILS(SCUTE_E_NOSPC, tx.commit());
    EXPECT_NE(std::string(scute_errormsg()).find("scute_overwrite_max"), std::string::npos);
  }
  // Nothing was lent for it, and zeroed, in vain.
  // (A checkpoint may have tried to make room.)
  EXPECT_LE(f.stats().bytes_log, before.bytes_log + (spec() ? 4096 : 0));
  EXPECT_LE(f.stats().bytes_data, before.bytes_data + (spec() ? 65536 : 0));
  EXPECT_TRUE(f.read(oid) == old);
  bytes want = old;
  const bytes fresh = pattern(3, fits);
  std::copy(fresh.begin(), fresh.end(), want.begin() + 1000);
  {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_add_range(tx, oid, 1000, fits, &p));
    std::memcpy(p, fresh.data(), fits);
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_TRUE(f.read(oid) == want);
  uint64_t later = 0;
  SCUTE_OKAY(scute_overwrite_max(f, &later));
  EXPECT_EQ(later, fits) << "chunks that were lent stay lent";
  f.expect_sound();
}

TEST_P(large, TenThousandObjectsAtOnce) {
  f.create(32 * mib, GetParam());
  constexpr size_t n = 10000;
  const uint64_t free_before = f.info().chunks_free;
  std::vector<scute_oid> oids(n);
  {
    transaction tx(f);
    for (size_t i = 0; i < n; ++i) {
      SCUTE_OKAY(scute_tx_alloc(tx, 24, 1, &oids[i], &p));
      std::memcpy(p, &i, sizeof i);
    }
    SCUTE_OKAY(tx.commit());
  }
  // Without a log there is nothing that could be too long for one.
  if (log_free()) {
    EXPECT_EQ(f.stats().fallbacks, 0u);
    EXPECT_EQ(f.stats().logged, 0u);
  } else if (!spec()) {
    EXPECT_GE(f.stats().fallbacks, 1u);
  }
  {
    transaction tx(f);
    for (size_t i = 0; i < n; ++i) {
      SCUTE_OKAY(scute_tx_open(tx, oids[i], &p));
      size_t seen = 0;
      std::memcpy(&seen, p, sizeof seen);
      ASSERT_EQ(seen, i);
      ++seen;
      std::memcpy(p, &seen, sizeof seen);
    }
    for (size_t i = 0; i < n; i += 2) SCUTE_OKAY(scute_tx_free(tx, oids[i]));
    SCUTE_OKAY(tx.commit());
  }
  f.expect_sound();
  f.reopen();
  EXPECT_EQ(f.objects(), n / 2);
  for (size_t i = 1; i < n; i += 2) {
    size_t seen = 0;
    std::memcpy(&seen, scute_get(f, oids[i]), sizeof seen);
    ASSERT_EQ(seen, i + 1);
  }
  EXPECT_GE(f.info().chunks_free + 4, free_before - n * 64 / f.info().chunk_size);
}

TEST_P(large, ObjectsBeyondARowAndNearlyAZone) {
  f.create(4 * mib, GetParam());
  const auto g = f.in().s.geo;
  const uint64_t free_before = f.info().chunks_free;
  for (const uint64_t n :
       {g.row_size - 5000, g.row_size, g.row_size * 2 + 100, scute_alloc_max(f) - 5000}) {
    bytes want = pattern(n, n);
    oid = f.alloc(want);
    ASSERT_NE(oid, 0u) << scute_errormsg();
    f.expect_sound();
    transaction tx(f);
    const uint64_t from = n > g.row_size ? g.row_size - 500 : 100;
    SCUTE_OKAY(scute_tx_add_range(tx, oid, from, 1000, &p));  // fits the lane: no room elsewhere
    std::memset(p, 1, 1000);
    std::memset(want.data() + from, 1, 1000);
    SCUTE_OKAY(tx.commit());
    f.expect_sound();
    f.reopen();
    EXPECT_TRUE(f.read(oid) == want);
    ASSERT_EQ(SCUTE_OK, f.free(oid)) << scute_errormsg();
  }
  EXPECT_EQ(f.info().chunks_free, free_before);
}

TEST_P(large, OverwriteLongerThanTheLane) {
  f.create(8 * mib, GetParam());
  const bytes before = pattern(1, 500000);
  bytes after = pattern(2, 500000);
  oid = f.alloc(before);
  const uint64_t free_before = f.info().chunks_free;
  f.overwrite(oid, after);
  EXPECT_TRUE(f.read(oid) == after);
  EXPECT_EQ(f.stats().fallbacks, log_free() || spec() ? 0u : 1u);
  EXPECT_EQ(f.stats().logged, 0u);
  if (!spec()) {
    EXPECT_EQ(f.info().chunks_free, free_before);
  }
  f.expect_sound();
}

TEST_P(large, LogBeyondTheFreeSpaceLosesNothing) {
  f.create(2 * mib, GetParam());
  const auto g = f.in().s.geo;
  // One object takes most of the pool; rewriting it needs a log as long, since more of its bytes
  // lie in one column than parity could bring back.
  ASSERT_EQ(g.rows, 4u);
  const uint64_t n = spec() ? scute_alloc_max(f) / 10 * 7
                            : uint64_t{g.chunks} * g.chunk_size * (g.parity < 3 ? 6 : 9) / 10;
  const bytes want = pattern(1, n);
  oid = f.alloc(want);
  ASSERT_NE(oid, 0u);
  const uint64_t free_before = f.info().chunks_free;
  for (int round = 0; round < 3; ++round) {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    const bytes other = pattern(2, n);
    std::memcpy(p, other.data(), n);
    SCUTE_FAILS(SCUTE_E_NOSPC, tx.commit());
    EXPECT_TRUE(f.read(oid) == want);
    EXPECT_EQ(f.info().chunks_free, free_before);
    f.expect_sound();
  }
  // All the space is still to be had, as one piece. (Which a log in chunks may part.)
  const scute_oid rest = f.alloc(pattern(3, (free_before - 1) * g.chunk_size / (spec() ? 3 : 1)));
  EXPECT_NE(rest, 0u) << scute_errormsg();
  f.expect_sound();
  f.reopen();
  EXPECT_TRUE(f.read(oid) == want);
}

TEST_P(large, NoSpaceInTheMiddleOfATransaction) {
  f.create(mib, GetParam());
  const bytes want = pattern(1, 1000);
  const scute_oid kept = f.alloc(want);
  uint64_t first_count = 0;
  for (int round = 0; round < 4; ++round) {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_open(tx, kept, &p));
    std::memset(p, 9, 1000);
    uint64_t count = 0;
    int e = 0;
    while ((e = scute_tx_alloc(tx, 2000, 1, &oid, &p)) == 0) ++count;
    EXPECT_EQ(e, SCUTE_E_NOSPC);
    if (round == 0) first_count = count;
    EXPECT_EQ(count, first_count) << "space was lost";
    EXPECT_GT(count, 100u);
    SCUTE_OKAY(tx.abort());
    EXPECT_TRUE(f.read(kept) == want);
    f.expect_sound();
  }
}

INSTANTIATE_TEST_SUITE_P(Protection, large, every_protection, protection_name);

}  // namespace
}  // namespace scute::test
