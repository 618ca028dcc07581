// SPDX-License-Identifier: BSD-3-Clause
// Recovery of log-free pools as programs see it: waiting for it, watching it, leaving it to the
// next session; and making deferred parity durable.
#include <gtest/gtest.h>

#include <thread>

#include "scrub/crash_image.hpp"
#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

class recovery : public testing::Test {
 protected:
  // Forty transactions, each cut short in one of its members; their columns are apart.
  void SetUp() override {
    std::vector<scute_oid> oids;
    for (uint64_t i = 0; i < 80; ++i) oids.push_back(f.add(pattern(i, 1000)));
    image = f.file();
    for (uint64_t i = 0; i < 80; i += 2) {
      const bool decided = i % 4 == 0;
      f.cut([&](scute_tx* tx, auto& after) {
        for (const scute_oid oid : {oids[i], oids[i + 1]}) {
          void* p = nullptr;
          SCUTE_OKAY(scute_tx_add_range(tx, oid, 100, 200, &p));
          std::memset(p, 7, 200);
          std::fill_n(after[oid].begin() + 100, 200, 7);
        }
      });
      const auto there = decided ? f.data : f.words_of(oids[i]);
      for (const uint64_t at : there)
        std::copy_n(f.new_file.begin() + static_cast<long>(at), 8,
                    image.begin() + static_cast<long>(at));
      wanted[oids[i]] = (decided ? f.after : f.before)[oids[i]];
      wanted[oids[i + 1]] = (decided ? f.after : f.before)[oids[i + 1]];
      f.before = f.after;
    }
  }
  void expect_over() {
    EXPECT_EQ(f.info().unresolved, 0u);
    uint64_t done = 0, total = 0;
    SCUTE_OKAY(scute_recovery_progress(f, &done, &total));
    EXPECT_EQ(done, total);
    f.expect(wanted);
    f.expect_sound();
  }

  crash_image f;
  bytes image;
  std::map<scute_oid, bytes> wanted;
};

TEST_F(recovery, WaitingReportsProgress) {
  f.load(image);
  const uint64_t width = (f.g.rows + f.g.parity) * uint64_t{4096};
  const uint64_t all = f.g.row_size / 4096 * width;
  uint64_t done = 1, total = 0;
  SCUTE_OKAY(scute_recovery_progress(f, &done, &total));
  EXPECT_EQ(total, all);
  EXPECT_LT(done, all / 2);
  EXPECT_EQ(f.info().unresolved, total - done);
  struct {
    uint64_t calls = 0, last = 0, total = 0;
    bool grows = true;
    std::string what;
  } seen;
  SCUTE_OKAY(scute_recovery_wait(
      f,
      [](void* arg, const char* what, uint64_t d, uint64_t t) {
        auto& s = *static_cast<decltype(seen)*>(arg);
        s.grows = s.grows && d >= s.last && d <= t;
        s.last = d, s.total = t, s.what = what;
        ++s.calls;
      },
      &seen));
  EXPECT_GT(seen.calls, 5u);
  EXPECT_TRUE(seen.grows);
  EXPECT_EQ(seen.last, seen.total);
  EXPECT_EQ(seen.total, all) << "bytes, as scute/api.h says";
  EXPECT_EQ(seen.what, "recover");
  EXPECT_EQ(f.info().rolled_back, 20u);
  EXPECT_EQ(f.info().finished, 40u);
  EXPECT_EQ(f.info().lost, 0u);
  expect_over();
  SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
  f.reopen();
  SCUTE_OKAY(scute_recovery_progress(f, &done, &total));
  EXPECT_EQ(total, 0u);
  EXPECT_EQ(done, 0u);
  EXPECT_EQ(f.info().rolled_back, 0u);
}

// RES-1.
TEST_F(recovery, InTheBackground) {
  f.load(image, 0);
  wait_until([&] { return f.info().unresolved == 0; });
  expect_over();
}

// RES-2: each block is resolved once.
TEST_F(recovery, ManyThreadsAtOnce) {
  for (const uint32_t flags : {uint32_t{SCUTE_LAZY_RECOVERY}, uint32_t{0}}) {
    f.load(image, flags);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        if (t % 2 == 0) {
          EXPECT_EQ(SCUTE_OK, scute_recovery_wait(f, nullptr, nullptr));
        }
        // Those that do not wait use the pool.
        auto it = wanted.begin();
        for (int i = 0; i < 20; ++i, it = std::next(it))
          EXPECT_TRUE(f.read(it->first) == it->second) << f.offset_of(it->first);
      });
    for (auto& t : threads) t.join();
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    EXPECT_EQ(f.info().rolled_back, 20u);
    EXPECT_EQ(f.info().finished, 40u);
    expect_over();
  }
}

// EPOCH-1.
TEST_F(recovery, TheNextSessionContinues) {
  f.load(image);
  const uint64_t resolved = f.in().s.sb.resolved_epoch;
  const auto [first, content] = *wanted.begin();
  EXPECT_TRUE(f.read(first) == content);
  for (int session = 0; session < 3; ++session) {
    f.reopen(SCUTE_LAZY_RECOVERY);
    EXPECT_EQ(f.info().clean, 1) << "it was closed properly";
    EXPECT_EQ(f.in().s.sb.resolved_epoch, resolved);
    EXPECT_GT(f.info().unresolved, 0u);
    EXPECT_NE(f.alloc(pattern(1, 50)), 0u);  // a new epoch leaves its tags
    scute_oid last = 0, at = 0;
    SCUTE_OKAY(scute_first(f, SCUTE_TYPE_ANY, &at));
    while (at != 0) {
      if (wanted.count(at) == 0) last = at;
      SCUTE_OKAY(scute_next(f, at, SCUTE_TYPE_ANY, &at));
    }
    ASSERT_NE(last, 0u);
    ASSERT_EQ(SCUTE_OK, f.free(last));
  }
  f.reopen(0);  // a session that does it in the background and is closed at any moment
  f.reopen(SCUTE_LAZY_RECOVERY);
  SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
  expect_over();
  f.reopen();
  EXPECT_EQ(f.in().s.sb.resolved_epoch + 1, f.in().s.sb.epoch);
  expect_over();
}

TEST_F(recovery, ReadOnlyIsInPrivateMemory) {
  for (const uint32_t flags :
       {uint32_t{SCUTE_READONLY | SCUTE_LAZY_RECOVERY}, uint32_t{SCUTE_READONLY}}) {
    f.load(image, flags);
    for (const auto& [oid, content] : wanted) EXPECT_TRUE(f.read(oid) == content);
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    expect_over();
    SCUTE_OKAY(scute_drain(f));
    f.close();
    EXPECT_TRUE(read_file(f.path) == image);
    f.open(flags);
  }
}

TEST_F(recovery, CheckAndScrubFinishItFirst) {
  f.load(image);
  scute_report r = f.check();
  EXPECT_EQ(r.damaged, 0u);
  EXPECT_EQ(f.info().unresolved, 0u);
  f.load(image);
  scute_scrub_options o;
  scute_scrub_options_init(&o);
  r = {};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(f, &o, &r));
  EXPECT_EQ(r.lost, 0u);
  EXPECT_EQ(r.damaged, 0u) << "blocks that a crash has left unresolved are no damage";
  SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
  expect_over();
}

TEST_F(recovery, NotInsideATransaction) {
  f.load(image);
  transaction tx(f);
  SCUTE_FAILS(SCUTE_E_INVALID, scute_recovery_wait(f, nullptr, nullptr));
  SCUTE_OKAY(scute_recovery_progress(f, nullptr, nullptr));
  SCUTE_OKAY(tx.abort());
}

TEST(recovery_of_redo, ThereIsNothingToWaitFor) {
  pool_file f;
  f.create(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
  f.alloc(pattern(1, 100));
  const bytes crash = read_file(f.path);
  f.close();
  write_file(f.path, crash);
  f.open(SCUTE_LAZY_RECOVERY);
  uint64_t done = 1, total = 1;
  SCUTE_OKAY(scute_recovery_progress(f, &done, &total));
  EXPECT_EQ(total, 0u);
  EXPECT_EQ(done, 0u);
  SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
  SCUTE_OKAY(scute_drain(f));
  EXPECT_EQ(f.stats().drains, 0u);
}

// ---- scute_drain --------------------------------------------------------------------------------

bool anything_deferred(pool_file& f) {
  for (pool::lane& l : f.in().s.lanes)
    if (l.deferral.load() != 0) return true;
  return false;
}

TEST(drain, EndsWhatIsDeferred) {
  crash_image f;
  f.in().idle.stop();
  const scute_oid oid = f.add(pattern(1, 500));
  SCUTE_OKAY(scute_drain(f));
  const auto before = f.stats();
  f.overwrite(oid, pattern(2, 500));
  EXPECT_TRUE(anything_deferred(f));
  EXPECT_EQ(f.stats().fences - before.fences, 1u);
  SCUTE_OKAY(scute_drain(f));
  EXPECT_FALSE(anything_deferred(f));
  EXPECT_EQ(f.stats().fences - before.fences, 2u);
  EXPECT_EQ(f.stats().drains - before.drains, 1u);
  SCUTE_OKAY(scute_drain(f));
  EXPECT_EQ(f.stats().fences - before.fences, 2u);
  // The drained window costs the next transaction on the same columns nothing.
  f.overwrite(oid, pattern(3, 500));
  EXPECT_EQ(f.stats().fences - before.fences, 3u);
  transaction tx(f);
  SCUTE_OKAY(scute_drain(f));  // any time
  EXPECT_FALSE(anything_deferred(f));
  SCUTE_OKAY(tx.commit());
}

TEST(drain, HappensByItselfWhenNothingElseDoes) {
  crash_image f;
  const scute_oid oid = f.add(pattern(1, 500));
  f.overwrite(oid, pattern(2, 500));
  wait_until([&] { return !anything_deferred(f); });
  EXPECT_TRUE(f.read(oid) == pattern(2, 500));
}

// As in a large pool: a range in place holds the lock of blocks that are still to be resolved. The
// blocks of another range are resolved when it is opened, those of a new object when the
// transaction commits. No thread can take the lock from the lane by then
// (core/engine/logfree/column_reservation.hpp, RESERVE-2). In a child, since a failure would hang.
TEST_F(recovery, RangesInPlaceWhereBlocksShareLocks) {
  f.close();
  for (const uint32_t stripes : {1u, 2u, 8u}) {
    SCOPED_TRACE("locks: " + std::to_string(stripes));
    in_child([&] {
      pool::stripes::use(stripes);
      f.load(image);
      auto now = wanted;
      uint64_t round = 0;
      for (const auto& [oid, content] : wanted) {
        transaction tx(f);
        void* at = nullptr;
        SCUTE_OKAY(scute_tx_inplace(tx, oid, 50, 100, &at));
        std::memset(at, 9, 100);
        std::fill_n(now[oid].begin() + 50, 100, 9);
        const bytes fresh = pattern(round, 500 + 1000 * (round % 10));
        ++round;
        scute_oid made = 0;
        SCUTE_OKAY(scute_tx_alloc(tx, fresh.size(), 1, &made, &at));
        std::memcpy(at, fresh.data(), fresh.size());
        now[made] = fresh;
        SCUTE_OKAY(tx.commit());
      }
      f.expect_sound_with(now);
      f.close();
    });
  }
}

// Two threads, each with ranges in place in blocks that the other one's lock guards, before
// anything is resolved. A thread that resolves waits for locks, so no thread that holds one may
// wait for it.
TEST_F(recovery, ThreadsInPlaceWhereBlocksShareLocks) {
  f.close();
  pool::stripes::use(2);
  f.load(image);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t round = 0; round < 10; ++round) {
        transaction tx(f);
        uint64_t k = 0;
        for (auto& [oid, content] : wanted) {
          if (k++ % 20 != 2 * round + t) continue;
          void* at = nullptr;
          SCUTE_OKAY(scute_tx_inplace(tx, oid, 50, 100, &at));
          std::memset(at, 9, 100);
          std::fill_n(content.begin() + 50, 100, 9);
        }
        SCUTE_OKAY(tx.commit());
      }
    });
  for (auto& t : threads) t.join();
  f.expect_sound_with(wanted);
  f.close();
  pool::stripes::use(pool::stripes::count);
}

}  // namespace
}  // namespace scute::test
