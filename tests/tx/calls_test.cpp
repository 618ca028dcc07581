// SPDX-License-Identifier: BSD-3-Clause
// Every transaction call: what it does, and what it refuses.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class calls : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override { f.create(4 * mib, GetParam()); }
  pool_file f;
  void* p = nullptr;
  const void* q = nullptr;
  scute_oid oid = 0;
};

TEST_P(calls, AllocIsZeroedAlignedAndVisibleAtCommit) {
  for (const uint64_t n : {1, 32, 33, 4096, 4097, 16384, 100000}) {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_alloc(tx, n, 42, &oid, &p));
    EXPECT_EQ(0u, (f.offset_of(oid)) % 32);
    EXPECT_TRUE(bytes(n) ==
                bytes(static_cast<unsigned char*>(p), static_cast<unsigned char*>(p) + n));
    SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f, oid, &q));
    const bytes want = pattern(n, n);
    std::memcpy(p, want.data(), n);
    EXPECT_EQ(scute_get(f, oid), p);
    SCUTE_OKAY(scute_tx_get(tx, oid, &q));
    EXPECT_EQ(p, q);
    SCUTE_OKAY(tx.commit());
    EXPECT_TRUE(f.read(oid) == want);
    uint64_t size = 0, usable = 0;
    uint32_t type = 0;
    SCUTE_OKAY(scute_object_info(f, oid, &size, &usable, &type));
    EXPECT_EQ(size, n);
    EXPECT_GE(usable, n);
    EXPECT_EQ(type, 42u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(scute_get(f, oid)), scute_direct_base(f) + oid);
  }
  f.expect_sound();
}

// A hint changes nothing, whatever it names, and is refused only for what every call is.
TEST_P(calls, PrefetchIsAHint) {
  const scute_oid a = f.alloc(pattern(1, 100)), b = f.alloc(pattern(2, 9000)),
                  gone = f.alloc(pattern(3, 50));
  SCUTE_OKAY(f.free(gone));
  const scute_oid oids[] = {a, b, gone, 0, a + 32, ~a, UINT64_MAX, a};
  transaction tx(f);
  SCUTE_OKAY(scute_tx_prefetch(tx, oids, 8));
  SCUTE_OKAY(scute_tx_prefetch(tx, nullptr, 0));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_prefetch(tx, nullptr, 1));
  EXPECT_EQ(scute_tx_reading(tx)->touched, 0u);
  SCUTE_OKAY(scute_tx_open(tx, a, &p));
  std::memset(p, 5, 100);
  SCUTE_OKAY(tx.commit());
  EXPECT_TRUE(f.read(a) == bytes(100, 5));
  SCUTE_FAILS(SCUTE_E_NOTX, scute_tx_prefetch(nullptr, oids, 1));
  f.expect_sound();
}

TEST_P(calls, AllocLimits) {
  const uint64_t max = scute_alloc_max(f), free = f.info().chunks_free;
  {
    transaction tx(f);
    SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_alloc(tx, 0, 1, &oid, &p));
    SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_alloc(tx, max + 1, 1, &oid, &p));
    SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_alloc(tx, UINT64_MAX, 1, &oid, &p));
    SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_alloc(tx, 8, SCUTE_TYPE_ANY, &oid, &p));
    SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_alloc(tx, 8, 1, nullptr, &p));
    EXPECT_EQ(oid, 0u);
  }
  transaction tx(f);
  SCUTE_OKAY(scute_tx_alloc(tx, max, 1, &oid, &p));
  const bytes want = pattern(3, max);
  std::memcpy(p, want.data(), max);
  scute_oid more = 0;
  // A log in chunks of the pool has parted what is free.
  if (GetParam().engine != SCUTE_ENGINE_SPEC)
    SCUTE_FAILS(SCUTE_E_NOSPC, scute_tx_alloc(tx, 1, 1, &more, nullptr));
  SCUTE_OKAY(tx.commit());
  EXPECT_TRUE(f.read(oid) == want);
  f.expect_sound();
  f.reopen();
  EXPECT_TRUE(f.read(oid) == want);
  ASSERT_EQ(SCUTE_OK, f.free(oid)) << scute_errormsg();
  EXPECT_EQ(f.info().chunks_free, free);
  EXPECT_NE(f.alloc(want), 0u);
}

// TX-1.
TEST_P(calls, AbortLeavesNoTrace) {
  const bytes want = pattern(1, 5000);
  const scute_oid live = f.alloc(want), dead = f.alloc(want);
  const uint64_t free_before = f.info().chunks_free;
  std::vector<scute_oid> reserved;
  for (int round = 0; round < 50; ++round) {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_open(tx, live, &p));
    std::memset(p, round, 5000);
    SCUTE_OKAY(scute_tx_free(tx, dead));
    SCUTE_OKAY(scute_tx_alloc(tx, 70000, 1, &oid, nullptr));
    SCUTE_OKAY(scute_tx_alloc(tx, 6000, 1, &oid, nullptr));
    reserved.push_back(oid);
    SCUTE_OKAY(tx.abort());
    SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f, oid, &q));
  }
  // Reserved slots came back: the same one is handed out time and again.
  EXPECT_LE(std::set<scute_oid>(reserved.begin(), reserved.end()).size(), 2u);
  EXPECT_GE(f.info().chunks_free + 2, free_before);
  EXPECT_TRUE(f.read(live) == want);
  EXPECT_TRUE(f.read(dead) == want);
  f.expect_sound();
}

// SEAL-1: overlapping patches would change the parity twice.
TEST_P(calls, RangesOverlapRepeatAndEndAtTheObject) {
  bytes want = pattern(1, 10000);
  oid = f.alloc(want);
  transaction tx(f);
  void* first = nullptr;
  SCUTE_OKAY(scute_tx_add_range(tx, oid, 4000, 200, &first));
  const auto base = static_cast<unsigned char*>(first) - 4000;
  for (const auto& [at, n] : {std::pair{4100u, 200u},
                              {3900u, 500u},
                              {0u, 1u},
                              {9999u, 1u},
                              {4096u, 4096u},
                              {4000u, 200u}}) {
    SCUTE_OKAY(scute_tx_add_range(tx, oid, at, n, &p));
    EXPECT_EQ(p, base + at);
    EXPECT_EQ(0, std::memcmp(p, want.data() + at, n));
    base[at] ^= 1, want[at] ^= 1;
  }
  SCUTE_OKAY(scute_tx_get_range(tx, oid, 4096, 100, &q));
  EXPECT_EQ(q, base + 4096);
  SCUTE_OKAY(scute_tx_get_range(tx, oid, 9000, 10, &q));
  EXPECT_EQ(0, std::memcmp(q, want.data() + 9000, 10));
  SCUTE_OKAY(scute_tx_get(tx, oid, &q));
  EXPECT_EQ(0, std::memcmp(q, want.data(), want.size()));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_add_range(tx, oid, 10000, 1, &p));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_add_range(tx, oid, 9999, 2, &p));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_add_range(tx, oid, UINT64_MAX - 1, 4, &p));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_add_range(tx, oid, 5, UINT64_MAX, &p));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_get_range(tx, oid, 10000, 1, &q));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_add_range(tx, oid, 5, 0, &p));
  SCUTE_OKAY(tx.commit());
  EXPECT_TRUE(f.read(oid) == want);
  f.expect_sound();
}

TEST_P(calls, OpenedAgainIsTheSameBuffer) {
  oid = f.alloc(pattern(1, 100));
  transaction tx(f);
  void* again = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, oid, &p));
  static_cast<char*>(p)[3] = 9;
  SCUTE_OKAY(scute_tx_open(tx, oid, &again));
  EXPECT_EQ(p, again);
  SCUTE_OKAY(scute_tx_add_range(tx, oid, 3, 1, &again));
  EXPECT_EQ(static_cast<char*>(p) + 3, again);
  EXPECT_EQ(*static_cast<char*>(again), 9);
  EXPECT_EQ(scute_get(f, oid), p);
}

TEST_P(calls, FreeInEveryCombination) {
  const bytes want = pattern(1, 300);
  scute_oid a = f.alloc(want), b = f.alloc(want), c = f.alloc(want),
            big = f.alloc(pattern(2, 50000));
  transaction tx(f);
  SCUTE_OKAY(scute_tx_free(tx, a));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_free(tx, a));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_open(tx, a, &p));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_add_range(tx, a, 0, 1, &p));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_inplace(tx, a, 0, 1, &p));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_get(tx, a, &q));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_get_range(tx, a, 0, 1, &q));
  SCUTE_FAILS(SCUTE_E_FREED, scute_object_info(f, a, nullptr, nullptr, nullptr));
  uint64_t committed = 0;
  SCUTE_OKAY(scute_committed_info(f, a, &committed, nullptr, nullptr));
  EXPECT_NE(committed, 0u);
  SCUTE_OKAY(scute_tx_open(tx, b, &p));
  std::memset(p, 1, 300);
  SCUTE_OKAY(scute_tx_free(tx, b));
  SCUTE_OKAY(scute_tx_free(tx, big));
  scute_oid brief = 0, brief_big = 0, kept = 0;
  SCUTE_OKAY(scute_tx_alloc(tx, 300, 1, &brief, &p));
  SCUTE_OKAY(scute_tx_alloc(tx, 50000, 1, &brief_big, &p));
  EXPECT_NE(brief, a);  // not before the free is durable
  EXPECT_NE(brief, b);
  SCUTE_OKAY(scute_tx_free(tx, brief));
  SCUTE_OKAY(scute_tx_free(tx, brief_big));
  SCUTE_FAILS(SCUTE_E_FREED, scute_tx_free(tx, brief));
  SCUTE_OKAY(scute_tx_alloc(tx, 300, 1, &kept, &p));
  EXPECT_NE(kept, brief);
  std::memcpy(p, want.data(), 300);
  SCUTE_OKAY(tx.commit());
  for (const scute_oid gone : {a, b, brief, big, brief_big}) {
    SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f, gone, &q));
    SCUTE_FAILS(SCUTE_E_FREED, scute_object_info(f, gone, nullptr, nullptr, nullptr));
    EXPECT_EQ(SCUTE_E_FREED, f.free(gone));
  }
  EXPECT_TRUE(f.read(kept) == want);
  EXPECT_TRUE(f.read(c) == want);
  EXPECT_EQ(f.objects(), 2u);
  f.expect_sound();
}

TEST_P(calls, NestingFlattens) {
  oid = f.alloc(pattern(1, 100));
  scute_tx *outer = nullptr, *inner = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &outer));
  SCUTE_OKAY(scute_tx_begin(f, &inner));
  EXPECT_EQ(outer, inner);
  SCUTE_OKAY(scute_tx_open(inner, oid, &p));
  std::memset(p, 1, 100);
  SCUTE_OKAY(scute_tx_commit(inner));
  EXPECT_EQ(scute_tx_current(f), outer);
  EXPECT_EQ(0, std::memcmp(f.raw(f.offset_of(oid)), pattern(1, 100).data(), 100));
  SCUTE_OKAY(scute_tx_commit(outer));
  EXPECT_EQ(scute_tx_current(f), nullptr);
  EXPECT_EQ(f.read(oid), bytes(100, 1));
}

TEST_P(calls, AnInnerAbortDoomsTheWhole) {
  oid = f.alloc(pattern(1, 100));
  scute_tx* tx = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  SCUTE_OKAY(scute_tx_inplace(tx, oid, 0, 50, &p));
  std::memset(p, 1, 50);
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  SCUTE_OKAY(scute_tx_abort(tx));
  SCUTE_OKAY(scute_tx_commit(tx));
  SCUTE_FAILS(SCUTE_E_ABORTED, scute_tx_commit(tx));
  SCUTE_FAILS(SCUTE_E_NOTX, scute_tx_commit(tx));
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  // And the next one is not doomed.
  f.overwrite(oid, bytes(100, 2));
  EXPECT_EQ(f.read(oid), bytes(100, 2));
  f.expect_sound();
}

TEST_P(calls, TwoPoolsInOneThread) {
  pool_file other;
  other.create();
  scute_oid theirs = other.alloc(pattern(1, 10));
  const scute_oid mine = f.alloc(pattern(1, 10));
  transaction tx(f);
  scute_tx* second = nullptr;
  SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_begin(other, &second));
  SCUTE_FAILS(SCUTE_E_OID, scute_tx_open(tx, theirs, &p));
  SCUTE_FAILS(SCUTE_E_OID, scute_get_verified(f, theirs, &q));
  EXPECT_EQ(scute_get(f, theirs), nullptr);
  EXPECT_NE(scute_get(other, theirs), nullptr);
  EXPECT_EQ(scute_get(other, mine), nullptr);
  EXPECT_EQ(scute_tx_current(other), nullptr);
}

TEST_P(calls, RootIsMadeOnce) {
  SCUTE_FAILS(SCUTE_E_NOENT, scute_root(f, 0, 1, &oid));
  SCUTE_OKAY(scute_root(f, 100, 7, &oid));
  EXPECT_EQ(f.read(oid), bytes(100));
  scute_oid again = 0;
  SCUTE_OKAY(scute_root(f, 100, 8, &again));
  EXPECT_EQ(again, oid);
  SCUTE_OKAY(scute_root(f, 0, 8, &again));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_root(f, 101, 7, &again));
  {
    transaction tx(f);
    SCUTE_FAILS(SCUTE_E_INVALID, scute_root(f, 100, 7, &again));
  }
  f.reopen();
  SCUTE_OKAY(scute_root(f, 50, 7, &again));
  EXPECT_EQ(again, oid);
  EXPECT_EQ(f.objects(), 1u);
}

TEST_P(calls, RootMadeByManyThreadsIsOne) {
  std::vector<scute_oid> got(8);
  std::vector<std::thread> threads;
  for (auto& g : got) threads.emplace_back([&] { scute_root(f, 100, 1, &g); });
  for (auto& t : threads) t.join();
  EXPECT_NE(got[0], 0u);
  EXPECT_EQ(std::set<scute_oid>(got.begin(), got.end()).size(), 1u);
  EXPECT_EQ(f.objects(), 1u);
}

TEST_P(calls, ReadOnlyRefusesEveryChange) {
  oid = f.alloc(pattern(1, 100));
  scute_oid root = 0;
  SCUTE_OKAY(scute_root(f, 10, 1, &root));
  f.close();
  const bytes before = read_file(f.path);
  f.open(SCUTE_READONLY);
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  scute_oid made = 0;
  {
    transaction tx(f);
    SCUTE_FAILS(SCUTE_E_READONLY, scute_tx_alloc(tx, 8, 1, &made, &p));
    SCUTE_FAILS(SCUTE_E_READONLY, scute_tx_inplace(tx, oid, 0, 1, &p));
    SCUTE_OKAY(scute_tx_get(tx, oid, &q));
    SCUTE_OKAY(tx.commit());
  }
  {
    transaction tx(f);
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    std::memset(p, 1, 100);
    SCUTE_FAILS(SCUTE_E_READONLY, tx.commit());
  }
  EXPECT_EQ(SCUTE_E_READONLY, f.free(oid));
  SCUTE_OKAY(scute_obj_open(f, oid, &p));
  std::memset(p, 1, 100);
  SCUTE_FAILS(SCUTE_E_READONLY, scute_obj_commit(p));
  SCUTE_OKAY(scute_root(f, 10, 1, &root));
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  f.close();
  EXPECT_TRUE(read_file(f.path) == before);
}

TEST_P(calls, ReadOnlyPoolWithoutARoot) {
  f.reopen(SCUTE_READONLY);
  SCUTE_FAILS(SCUTE_E_READONLY, scute_root(f, 10, 1, &oid));
  SCUTE_FAILS(SCUTE_E_NOENT, scute_root(f, 0, 1, &oid));
  EXPECT_EQ(f.objects(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Protection, calls, every_protection, protection_name);

}  // namespace
}  // namespace scute::test
