// SPDX-License-Identifier: BSD-3-Clause
// Scrubs while transactions run, and how scrubs begin, end and continue.
#include <gtest/gtest.h>

#include "core/scrub/rate_limit.hpp"
#include "core/shared/marks.hpp"
#include "scrub/scrubbing.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

// Commits in progress look like damage for an instant, to objects and to columns. None may be
// believed. (CLASSIFY-1, WALK-1, SUSPECT-3)
TEST(scrub_live, NothingIsWrongWithObjectsThatAreBeingWritten) {
  known_pool f;
  f.create(8 * mib);
  f.fill();
  writers w(f, 3, {40, 200, 1000, 4096, 9000, 40000});
  for (int round = 0; round < 30 || w.commits() < 3000; ++round) {
    const scrub_result r = run_scrub(f, round % 3 + 1);
    ASSERT_EQ(r.report.damaged, 0u) << testing::PrintToString(r.findings);
  }
  w.stop();
  EXPECT_EQ(w.failures(), 0u);
  EXPECT_EQ(f.info().repaired, 0u);
  EXPECT_EQ(f.info().lost, 0u);
  f.expect_sound();
  f.expect_objects();
}

// Chunks change their use, slots and spans come and go. (FRAGREF-1, FRAGREF-2, REPLICA-1)
TEST(scrub_live, NothingIsWrongWhereSpaceIsReused) {
  known_pool f;
  f.create(8 * mib);
  f.fill();
  std::atomic<bool> over{false};
  std::atomic<uint64_t> turns{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      uint64_t key = t;
      while (!over || turns < 20) {
        std::vector<scute_oid> mine;
        const size_t n = size_t{30} << (key++ % 12);
        for (int i = 0; i < 20; ++i)
          if (const scute_oid oid = f.alloc(pattern(key + 7, n))) mine.push_back(oid);
        for (const scute_oid oid : mine) SCUTE_OKAY_E(f.free(oid));
        ++turns;
      }
    });
  for (int round = 0; round < 40; ++round) {
    const scrub_result r = run_scrub(f, 2);
    EXPECT_EQ(r.report.damaged, 0u) << testing::PrintToString(r.findings);
  }
  over = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(f.info().lost, 0u);
  f.expect_sound();
  f.expect_objects();
}

// In-place ranges: the bytes of the pool are the program's while it stores to them.
TEST(scrub_live, InPlaceRangesOfOpenTransactions) {
  known_pool f;
  f.create(4 * mib);
  f.fill();
  const scute_oid oid = f.add(9000);
  transaction tx(f);
  void* to = nullptr;
  SCUTE_OKAY(scute_tx_inplace(tx, oid, 3000, 5000, &to));
  std::memset(to, 0x5a, 5000);
  std::thread([&] { EXPECT_EQ(run_scrub(f, 2).report.damaged, 0u); }).join();
  SCUTE_OKAY(tx.commit());
  std::memset(f.objects[oid].data() + 3000, 0x5a, 5000);
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  f.expect_sound();
  f.expect_objects();
}

// Damage of every kind hits objects that no thread writes, while other objects are written next
// to them.
TEST(scrub_live, DamageIsRepairedWhileTransactionsRun) {
  known_pool f;
  f.create(8 * mib);
  f.fill();
  std::vector<scute_oid> still;
  for (const auto& [oid, content] : f.objects) still.push_back(oid);
  writers w(f, 2, {40, 300, 4000, 20000});
  const auto& g = f.in().s.geo;
  uint64_t repaired = 0;
  for (unsigned round = 0; round < 15; ++round) {
    const scute_oid oid = still[round * 7 % still.size()];
    f.raw(f.offset_of(oid))[0] ^= std::byte{1};
    f.raw(g.chunk_header_offset(0, round % 4))[8] ^= std::byte{0x80};
    f.raw(g.superblock_offset(round % 3))[100] ^= std::byte{2};
    const scrub_result r = run_scrub(f, 2);
    EXPECT_EQ(r.report.lost, 0u) << testing::PrintToString(r.findings);
    EXPECT_EQ(r.report.damaged, r.report.repaired);
    EXPECT_LE(r.report.repaired, 3u) << testing::PrintToString(r.findings);
    repaired += r.report.repaired;
  }
  w.stop();
  EXPECT_EQ(w.failures(), 0u);
  // A writer may have met some of the damage first.
  EXPECT_GE(f.info().repaired, 45u);
  EXPECT_GE(repaired, 30u);
  f.expect_sound();
  f.expect_objects();
}

// A pool large enough that a slow scrub takes a while.
class slow_scrub : public testing::Test {
 protected:
  void SetUp() override {
    f.create(32 * mib);
    f.fill();
    for (int i = 0; i < 40; ++i) f.add(400'000);
  }
  // It would take a quarter of a minute.
  void start_slowly() {
    scute_scrub_options o = scrub_options(result, 2);
    o.rate = 2 * mib;
    SCUTE_OKAY(scute_scrub_start(f, &o));
  }
  scute_report wait() {
    scute_report r{};
    r.struct_size = sizeof r;
    SCUTE_OKAY_E(scute_scrub_wait(f, &r));
    return r;
  }
  known_pool f;
  scrub_result result;
};

// SCRUBSVC-1.
TEST_F(slow_scrub, OneAtATime) {
  SCUTE_FAILS(SCUTE_E_NOENT, scute_scrub_wait(f, nullptr));
  start_slowly();
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_FAILS(SCUTE_E_BUSY, scute_scrub(f, nullptr, &r));
  SCUTE_FAILS(SCUTE_E_BUSY, scute_scrub_start(f, nullptr));
  scute_scrub_stop(f);
  EXPECT_EQ(wait().complete, 0);
  SCUTE_FAILS(SCUTE_E_NOENT, scute_scrub_wait(f, nullptr));
  SCUTE_OKAY(scute_scrub(f, nullptr, &r));
  EXPECT_EQ(r.complete, 1);
}

// SCRUB-1.
TEST_F(slow_scrub, StopsAndContinues) {
  const uint64_t whole = run_scrub(f, 2).report.bytes;
  const uint64_t last = f.info().last_scrub_ns;
  EXPECT_NE(last, 0u);
  EXPECT_EQ(f.info().scrub_position, 0u);
  start_slowly();
  wait_until([&] { return f.info().scrub_position != 0; });
  scute_scrub_stop(f);
  const scute_report part = wait();
  EXPECT_EQ(part.complete, 0);
  EXPECT_GT(part.bytes, 0u);
  EXPECT_LT(part.bytes, whole);
  EXPECT_EQ(f.info().last_scrub_ns, last);
  const uint64_t position = f.info().scrub_position;
  EXPECT_GT(position, 0u);
  EXPECT_LE(position, f.info().zone_size);
  f.reopen();
  EXPECT_EQ(f.info().scrub_position, position);
  const scute_report rest = run_scrub(f, 1, true).report;
  EXPECT_EQ(rest.complete, 1);
  EXPECT_LT(rest.bytes, whole);
  EXPECT_GE(part.bytes + rest.bytes, whole);
  EXPECT_EQ(f.info().scrub_position, 0u);
  EXPECT_GT(f.info().last_scrub_ns, last);
  // Nothing is left to resume: it starts over.
  EXPECT_EQ(run_scrub(f, 1, true).report.bytes, whole);
  f.expect_sound();
}

TEST_F(slow_scrub, ClosingStopsIt) {
  start_slowly();
  f.reopen();
  f.expect_sound();
  f.expect_objects();
}

TEST_F(slow_scrub, InsideATransactionThereIsNone) {
  transaction tx(f);
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_FAILS(SCUTE_E_INVALID, scute_scrub(f, nullptr, &r));
}

// A mark that is damaged says nothing; one that is right in one place is enough.
TEST_F(slow_scrub, DamagedMarks) {
  run_scrub(f);
  const uint64_t last = f.info().last_scrub_ns;
  ASSERT_NE(last, 0u);
  const auto& g = f.in().s.geo;
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(f.info().last_scrub_ns, last);
    f.raw(g.superblock_offset(i) + format::pool_marks_offset)[20] ^= std::byte{1};
  }
  EXPECT_EQ(f.info().last_scrub_ns, 0u);
  run_scrub(f);
  EXPECT_GE(f.info().last_scrub_ns, last);
}

TEST_F(slow_scrub, ProgressGrowsToTheTotal) {
  struct reported {
    uint64_t calls = 0, done = 0, total = 0;
    bool backwards = false;
  };
  for (const uint32_t threads : {1u, 2u}) {
    reported t;
    scute_scrub_options o;
    scute_scrub_options_init(&o);
    o.threads = threads;
    o.arg = &t;
    o.progress = [](void* arg, const char* what, uint64_t done, uint64_t total) {
      auto& p = *static_cast<reported*>(arg);
      EXPECT_STREQ(what, "scrub");
      p.backwards = p.backwards || done < p.done;
      p.done = done;
      p.total = total;
      ++p.calls;
    };
    scute_report r{};
    r.struct_size = sizeof r;
    SCUTE_OKAY(scute_scrub(f, &o, &r));
    EXPECT_GT(t.calls, 0u);
    EXPECT_EQ(t.done, t.total);
    EXPECT_FALSE(t.backwards);
  }
}

// A page that cannot be read is rebuilt when the scrub comes to it.
TEST(scrub_live, LostPages) {
  known_pool f;
  f.create(8 * mib);
  f.fill();
  const scute_oid oid = f.add(9000);
  const auto& g = f.in().s.geo;
  const uint64_t lost[] = {(f.offset_of(oid) + 4096) & ~uint64_t{4095},
                           g.zone_offset(0) + g.data_size + 10 * 4096};
  const bytes noise = pattern(99, 4096);
  for (const uint64_t page : lost)
    f.in().pages->lose(page, reinterpret_cast<const std::byte*>(noise.data()));
  writers w(f, 2, {40, 300, 4000});
  const scrub_result r = run_scrub(f, 2);
  w.stop();
  EXPECT_EQ(w.failures(), 0u);
  EXPECT_EQ(r.report.lost, 0u) << testing::PrintToString(r.findings);
  EXPECT_EQ(f.info().lost, 0u);
  EXPECT_EQ(f.info().pages_repaired, 2u);
  f.expect_sound();
  f.expect_objects();
}

// SCRUBSVC-2.
TEST(scrub_policy, AScrubAfterEverySoManyTransactions) {
  known_pool f;
  scute_options o = options(4 * mib);
  o.policy = SCUTE_POLICY_SCRUB;
  o.scrub_every = 500;
  f.create(o);
  f.fill();
  const scute_oid oid = f.add(1000);
  const auto run = [&](uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) f.overwrite(f.root, pattern(i, 200));
    f.objects[f.root] = pattern(n - 1, 200);
  };
  f.raw(f.offset_of(oid))[5] ^= std::byte{4};
  const uint64_t before = f.stats().scrubs;
  run(500);
  wait_until([&] { return f.stats().scrubs > before; });
  EXPECT_GE(f.stats().transactions, 500u);
  EXPECT_NE(f.info().last_scrub_ns, 0u);
  EXPECT_EQ(f.info().repaired, 1u);
  f.expect_objects();
  f.close();
}

// SCRUBSVC-2.
TEST(scrub_policy, NoScrubBeforeItIsDue) {
  known_pool f;
  scute_options o = options(4 * mib);
  o.policy = SCUTE_POLICY_SCRUB;
  o.scrub_every = 1'000'000;
  f.create(o);
  f.fill();
  for (uint64_t i = 0; i < 2000; ++i) f.overwrite(f.root, pattern(i, 200));
  // A thread that has something to do is awake from the last commit on.
  wait_until(&other_threads_sleep);
  EXPECT_EQ(f.stats().scrubs, 0u);
}

TEST(rate_limit, CountsBytes) {
  scrub::rate_limit none(0);
  EXPECT_EQ(none.draw(UINT64_MAX / 2, 1), 0u);
  scrub::rate_limit r(1'000'000);  // a byte per microsecond
  uint64_t now = 1'000'000'000, drawn = 0;
  while (r.draw(1000, now) == 0) drawn += 1000;
  EXPECT_EQ(drawn, 50'000u);  // the burst
  // From then on a caller that waits as long as the rate says has drawn what the rate allows.
  const uint64_t begin = now;
  for (int i = 0; i < 1000; ++i) {
    now += r.draw(1000, now);
    drawn += 1000;
  }
  const uint64_t refused = 1000;  // drawn too, by the call that ended the burst
  EXPECT_NEAR(static_cast<double>(drawn + refused),
              static_cast<double>(now - begin) / 1000 + 50'000, 1.0);
  // A pause does not save up more than the burst.
  now += 3'600'000'000'000;
  for (drawn = 0; r.draw(1000, now) == 0;) drawn += 1000;
  EXPECT_EQ(drawn, 50'000u);
}

}  // namespace
}  // namespace scute::test
