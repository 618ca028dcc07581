// SPDX-License-Identifier: BSD-3-Clause
// Windows of log-free commits, step by step: their locks, their fences, and which threads may
// take a deferred window away from its lane.
#include "core/engine/logfree/window.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

using engine::extent;

constexpr uint64_t block = pool::column_block;

class window : public testing::Test {
 protected:
  void SetUp() override {
    scute_options o = options(2 * mib);
    o.engine = SCUTE_ENGINE_LOGFREE;
    o.lanes = 4;
    o.rows = 4;
    f.create(o);
    s = &f.in().s;
    f.in().idle.stop();  // only the explicit calls drain here
    // Space that no object lies in, but rows that count.
    first = s->geo.chunk_offset(0, 0);
    for (auto& end : s->used_end) end.store(s->geo.data_size);
  }
  pool::lane& lane(uint32_t i) { return s->lanes[i]; }
  // The file offset of a column of a row of zone 0.
  uint64_t at(uint64_t row, uint64_t column) const {
    return s->geo.zone_offset(0) + row * s->geo.row_size + column;
  }
  static uint64_t fences(const pool::lane& l) { return l.w.count.fences.get(); }
  bool is_free(uint64_t column) {
    const uint32_t i = pool::stripes::index(0, column / block);
    if (!s->locks.try_lock_window(i, 3)) return false;
    s->locks.unlock_window(i, 3);
    return true;
  }
  bool plan(uint32_t l, std::vector<extent> x) { return engine::window(*s, lane(l)).plan(x); }

  // Does what engine::logfree::commit() does with a write of `n` bytes of `content` at each of
  // these places.
  void begin(uint32_t l, const std::vector<uint64_t>& places, const bytes& content) {
    patches.clear();
    contents.push_back(content);
    std::vector<extent> x;
    for (const uint64_t p : places) {
      patches.push_back({p, contents.back().data(), static_cast<uint32_t>(content.size()),
                         medium::purpose::data});
      x.push_back({p, content.size()});
    }
    ASSERT_TRUE(plan(l, x));
    pool::split(*s, lane(l), patches);
    engine::window(*s, lane(l)).prepare_deltas();
    engine::window(*s, lane(l)).take_back();
    engine::window(*s, lane(l)).enter();
  }
  void decide(uint32_t l) {
    engine::window(*s, lane(l)).write_data();
    lane(l).w.fence(fence_site::test);
    engine::window(*s, lane(l)).release_last();
    engine::window(*s, lane(l)).write_parity(engine::window::write_back::later);
    engine::window(*s, lane(l)).defer();
  }
  void commit(uint32_t l, const std::vector<uint64_t>& places, const bytes& content) {
    begin(l, places, content);
    decide(l);
  }
  void expect_consistent(uint64_t column, uint64_t n) {
    EXPECT_TRUE(pool::column_consistent(*s, 0, column, n));
  }
  void TearDown() override {
    f.in().drain();
    for (uint64_t c = 0; c < s->geo.row_size; c += block)
      EXPECT_TRUE(is_free(c)) << "column " << c << " is still locked";
  }

  pool_file f;
  pool::state* s = nullptr;
  uint64_t first = 0;
  std::vector<pool::patch> patches;
  std::vector<bytes> contents;  // the bytes that the patches point to
};

// ---- plan() -------------------------------------------------------------------------------------

TEST_F(window, PlanListsColumnsAndBlocks) {
  ASSERT_TRUE(plan(0, {{at(1, 5 * block + 100), 64}}));
  const auto& w = lane(0).now();
  ASSERT_EQ(w.columns.size(), 1u);
  EXPECT_EQ(w.columns[0].begin, 5 * block + 100);
  EXPECT_EQ(w.columns[0].end, 5 * block + 164);
  EXPECT_EQ(w.stripes, std::vector<uint32_t>{pool::stripes::index(0, 5)});

  // Two blocks, and what comes second in the list lies before.
  ASSERT_TRUE(plan(0, {{at(2, 9 * block - 1), 2}, {at(0, 3 * block), 1}}));
  ASSERT_EQ(w.columns.size(), 2u);
  EXPECT_EQ(w.columns[0].begin, 3 * block);
  EXPECT_EQ(w.columns[1].end, 9 * block + 1);
  std::vector<uint32_t> want{pool::stripes::index(0, 3), pool::stripes::index(0, 8),
                             pool::stripes::index(0, 9)};
  std::sort(want.begin(), want.end());
  EXPECT_EQ(w.stripes, want);
}

TEST_F(window, PlanAsksForEachStripeOnce) {
  ASSERT_TRUE(plan(0, {{at(0, 7 * block), 10}, {at(1, 7 * block + 10), 10}}));
  EXPECT_EQ(lane(0).now().stripes.size(), 1u);
  ASSERT_TRUE(plan(0, {{at(0, 7 * block), 10},
                       {at(1, 6 * block), 10},
                       {at(2, 7 * block + 50), 9},
                       {at(3, 6 * block + 10), 3}}));
  EXPECT_EQ(lane(0).now().stripes.size(), 2u);
  EXPECT_EQ(lane(0).now().columns.size(), 4u);
}

// LF-2.
TEST_F(window, PlanRefusesTwoCellsOfAColumn) {
  const uint64_t c = 4 * block + 1000;
  EXPECT_TRUE(plan(0, {{at(0, c), 100}, {at(1, c + 100), 50}}));
  EXPECT_TRUE(plan(0, {{at(0, c), 100}, {at(1, c - 50), 50}}));
  EXPECT_FALSE(plan(0, {{at(0, c), 100}, {at(1, c + 99), 50}}));
  EXPECT_FALSE(plan(0, {{at(0, c), 100}, {at(3, c - 49), 50}}));
  EXPECT_FALSE(plan(0, {{at(0, c), 100}, {at(2, c), 100}}));
  EXPECT_FALSE(plan(0, {{at(0, c), 100}, {at(1, c + 20), 1}}));
  // Not next to each other in the list.
  EXPECT_FALSE(
      plan(0, {{at(2, c), 10}, {at(1, 0), 10}, {at(0, c + 5 * block), 10}, {at(3, c + 9), 1}}));
}

TEST_F(window, PlanAtTheEndOfARow) {
  const uint64_t r = s->geo.row_size;
  ASSERT_TRUE(plan(0, {{at(1, r - 30), 100}}));
  const auto& w = lane(0).now();
  ASSERT_EQ(w.columns.size(), 2u);
  EXPECT_EQ(w.columns[0].begin, 0u);
  EXPECT_EQ(w.columns[0].end, 70u);
  EXPECT_EQ(w.columns[1].begin, r - 30);
  EXPECT_EQ(w.columns[1].end, r);
  EXPECT_EQ(w.stripes.size(), 2u);
  // As long as a row is still one cell per column; a byte more is not.
  EXPECT_TRUE(plan(0, {{at(0, 12345), r}}));
  EXPECT_EQ(w.stripes.size(), r / block);
  EXPECT_FALSE(plan(0, {{at(0, 12345), r + 1}}));
  // A range that continues in the next row meets the range at its beginning.
  EXPECT_FALSE(plan(0, {{at(1, r - 30), 100}, {at(3, 69), 10}}));
  EXPECT_TRUE(plan(0, {{at(1, r - 30), 100}, {at(3, 70), 10}}));
}

TEST_F(window, ColumnsOfDifferentZonesAreDifferent) {
  pool::geometry g = s->geo;
  g.zone_count = 2;  // arithmetic only
  const pool::geometry real = std::exchange(s->geo, g);
  const uint64_t here = at(0, 8 * block);
  EXPECT_TRUE(plan(0, {{here, 100}, {here + g.zone_size, 100}}));
  EXPECT_EQ(lane(0).now().stripes.size(), 2u);
  EXPECT_FALSE(plan(0, {{here, 100}, {here + g.row_size, 100}}));
  s->geo = real;
}

// ---- one lane -----------------------------------------------------------------------------------

// LF-1, WIN-2.
TEST_F(window, DataThenParityAndWhatItCounts) {
  const uint64_t c = 10 * block + 64;
  const bytes content = pattern(1, 192);
  const uint64_t fences_before = fences(lane(0));
  const uint64_t parity_at = s->geo.zone_offset(0) + s->geo.data_size + c;
  begin(0, {at(1, c)}, content);
  EXPECT_FALSE(is_free(c));
  engine::window(*s, lane(0)).write_data();
  EXPECT_EQ(0, std::memcmp(f.raw(at(1, c)), content.data(), content.size()));
  EXPECT_EQ(0, std::memcmp(f.raw(parity_at), bytes(192).data(), 192))
      << "LF-1: parity is the old one";
  lane(0).w.fence(fence_site::test);
  engine::window(*s, lane(0)).write_parity(engine::window::write_back::later);
  EXPECT_EQ(0, std::memcmp(f.raw(parity_at), content.data(), content.size()));
  ASSERT_EQ(lane(0).now().parity.size(), 1u);
  EXPECT_EQ(lane(0).now().parity[0].offset, parity_at);
  EXPECT_EQ(lane(0).now().parity[0].length, 192u);
  engine::window(*s, lane(0)).defer();
  EXPECT_EQ(fences(lane(0)) - fences_before, 1u);
  EXPECT_FALSE(is_free(c)) << "WIN-2: a deferred window keeps its stripes";
  EXPECT_TRUE(lane(0).has_stripe(pool::stripes::index(0, c / block)));
  EXPECT_FALSE(lane(1).has_stripe(pool::stripes::index(0, c / block)));
  engine::window(*s, lane(0)).drain();
  EXPECT_TRUE(is_free(c));
  EXPECT_FALSE(lane(0).has_stripe(pool::stripes::index(0, c / block)));
  expect_consistent(c, 192);
}

TEST_F(window, PlainEncodingWritesTheSame) {
  const uint64_t c = 10 * block + 60;
  const std::vector<uint64_t> places{at(0, c), at(1, c + 3000), at(2, c + 9000)};
  const bytes content = pattern(5, 2500);  // crosses a block
  std::vector<bytes> images;
  for (const bool plain : {false, true}) {
    s->plain_encoding = plain;
    commit(0, places, pattern(4, 2500));
    commit(0, places, content);
    engine::window(*s, lane(0)).drain();
    images.push_back(read_file(f.path));
    expect_consistent(10 * block, block);
    expect_consistent(11 * block, block);
    commit(0, places, bytes(2500));
    engine::window(*s, lane(0)).drain();
  }
  EXPECT_TRUE(images[0] == images[1]);
}

// WIN-3.
TEST_F(window, TakeBackGivesTheDeferredOneOnce) {
  EXPECT_FALSE(engine::window(*s, lane(0)).take_back());
  commit(0, {at(1, 12 * block)}, pattern(1, 64));
  EXPECT_TRUE(engine::window(*s, lane(0)).take_back());
  EXPECT_FALSE(engine::window(*s, lane(0)).take_back());
  engine::window(*s, lane(0)).drain();  // no longer another lane's
  EXPECT_FALSE(is_free(12 * block));
  const uint64_t before = fences(lane(0));
  engine::window(*s, lane(0)).finish_last();
  EXPECT_EQ(fences(lane(0)) - before, 1u);
  EXPECT_TRUE(is_free(12 * block));
}

// WIN-3.
TEST_F(window, OverlappingColumnsOfItsOwnFenceOnce) {
  const uint64_t c = 12 * block;
  commit(0, {at(1, c + 100)}, pattern(1, 64));
  uint64_t before = fences(lane(0));
  begin(0, {at(2, c + 163)}, pattern(2, 64));  // one byte in common, in another row
  EXPECT_EQ(fences(lane(0)) - before, 1u) << "WIN-3: before anything is stored";
  EXPECT_TRUE(lane(0).last().stripes.empty());
  EXPECT_FALSE(is_free(c));
  decide(0);
  EXPECT_EQ(fences(lane(0)) - before, 2u);
  EXPECT_EQ(lane(0).w.count.lock_waits.get(), 0u);
  // The same again and again: two fences each.
  before = fences(lane(0));
  for (uint64_t i = 0; i < 5; ++i) commit(0, {at(1, c + 100)}, pattern(3 + i, 64));
  EXPECT_EQ(fences(lane(0)) - before, 10u);
}

// WIN-3.
TEST_F(window, DisjointColumnsShareTheStripeWithoutAFence) {
  const uint64_t c = 12 * block;
  const uint64_t before = fences(lane(0));
  commit(0, {at(1, c + 100)}, pattern(1, 64));
  begin(0, {at(2, c + 164)}, pattern(2, 64));
  EXPECT_EQ(fences(lane(0)) - before, 1u);
  EXPECT_EQ(lane(0).last().stripes, lane(0).now().stripes);
  decide(0);
  EXPECT_EQ(fences(lane(0)) - before, 2u) << "one fence each";
  EXPECT_FALSE(is_free(c)) << "the later window's still";
  EXPECT_EQ(lane(0).w.count.lock_waits.get(), 0u);
  // 20 more of different columns and blocks: one fence each.
  for (uint64_t i = 0; i < 20; ++i)
    commit(0, {at(i % 4, (13 + i % 3) * block + i * 64)}, pattern(i, 64));
  EXPECT_EQ(fences(lane(0)) - before, 22u);
  engine::window(*s, lane(0)).drain();
  for (uint64_t b = 12; b < 16; ++b) expect_consistent(b * block, block);
}

TEST_F(window, TheFenceThatDecidesTheNextOneFreesTheStripesOfTheLast) {
  commit(0, {at(1, 12 * block), at(1, 14 * block)}, pattern(1, 64));
  begin(0, {at(1, 14 * block + 64), at(1, 16 * block)}, pattern(2, 64));
  EXPECT_FALSE(is_free(12 * block));
  EXPECT_FALSE(is_free(14 * block));
  EXPECT_FALSE(is_free(16 * block));
  decide(0);
  EXPECT_TRUE(is_free(12 * block));
  EXPECT_FALSE(lane(0).has_stripe(pool::stripes::index(0, 12)));
  EXPECT_TRUE(lane(0).has_stripe(pool::stripes::index(0, 14)));
  EXPECT_TRUE(lane(0).has_stripe(pool::stripes::index(0, 16)));
}

TEST_F(window, LeaveUnlocksAtOnce) {
  begin(0, {at(1, 12 * block), at(1, 13 * block)}, pattern(1, 64));
  engine::window(*s, lane(0)).leave();
  EXPECT_TRUE(is_free(12 * block));
  EXPECT_TRUE(is_free(13 * block));
  EXPECT_TRUE(lane(0).now().stripes.empty());
}

// WIN-6
TEST_F(window, ItsOrderIsAsserted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const uint64_t c = 12 * block;
  EXPECT_DEATH(engine::window(*s, lane(0)).enter(), "point");
  EXPECT_DEATH(engine::window(*s, lane(0)).finish_last(), "deferral");
  begin(0, {at(1, c)}, pattern(1, 64));
  EXPECT_DEATH(engine::window(*s, lane(0)).write_parity(engine::window::write_back::later),
               "point");
  EXPECT_DEATH(engine::window(*s, lane(0)).defer(), "point");
  EXPECT_DEATH(plan(0, {{at(1, c), 64}}), "point");
  engine::window(*s, lane(0)).write_data();
  EXPECT_DEATH(engine::window(*s, lane(0)).retreat(), "point");
  EXPECT_DEATH(engine::window(*s, lane(0)).write_data(), "point");
  engine::window(*s, lane(0)).write_parity(engine::window::write_back::later);
  EXPECT_DEATH(engine::window(*s, lane(0)).write_parity(engine::window::write_back::later),
               "point");
  lane(0).w.fence(fence_site::test);
  engine::window(*s, lane(0)).leave();
  EXPECT_DEATH(engine::window(*s, lane(0)).leave(), "point");
}

// ---- several lanes ------------------------------------------------------------------------------

// WIN-2.
TEST_F(window, AThreadThatNeedsAStripeDrains) {
  const uint64_t c = 12 * block;
  const auto& stored = lane(0).w.count.bytes[static_cast<int>(medium::purpose::parity)];
  const uint64_t before = stored.get();
  commit(0, {at(1, c), at(2, 15 * block)}, pattern(1, 64));
  EXPECT_EQ(stored.get() - before, 128u) << "counted when it is stored";
  const uint64_t own = fences(lane(0));
  const auto& drained = lane(0).drain_writer.count;
  EXPECT_EQ(drained.drains.get(), 0u);
  begin(1, {at(3, c + 2000)}, pattern(2, 64));  // other columns: the stripe is enough
  EXPECT_EQ(drained.drains.get(), 1u);
  EXPECT_EQ(drained.fences.get(), 1u);
  EXPECT_EQ(fences(lane(0)), own) << "the drain is not the lane's own writer's";
  EXPECT_EQ(lane(1).w.count.lock_waits.get(), 1u);
  EXPECT_TRUE(is_free(15 * block)) << "a window is let go of as a whole";
  EXPECT_TRUE(lane(0).last().stripes.empty());
  decide(1);
  EXPECT_FALSE(engine::window(*s, lane(0)).take_back()) << "there is nothing left";
  // Readers of a stripe (repairs, scrubs) drain as well.
  const uint32_t stripe = pool::stripes::index(0, 12);
  s->locks.lock_exclusive(stripe);
  EXPECT_EQ(lane(1).drain_writer.count.drains.get(), 1u);
  s->locks.unlock_exclusive(stripe);
  commit(2, {at(0, c + 500)}, pattern(3, 64));
  s->locks.lock_shared(stripe);
  EXPECT_EQ(lane(2).drain_writer.count.drains.get(), 1u);
  s->locks.unlock_shared(stripe, [](pool::stripe_owner o) { return o; });
  EXPECT_EQ(f.stats().drains, 3u);
  expect_consistent(c, block);
}

TEST_F(window, DrainingTwiceDoesNothing) {
  commit(0, {at(1, 12 * block)}, pattern(1, 64));
  engine::window(*s, lane(0)).drain();
  engine::window(*s, lane(0)).drain();
  engine::window(*s, lane(1)).drain();
  EXPECT_EQ(lane(0).drain_writer.count.drains.get(), 1u);
  EXPECT_EQ(lane(0).drain_writer.count.fences.get(), 1u);
  EXPECT_EQ(lane(1).drain_writer.count.drains.get(), 0u);
}

TEST_F(window, AWindowUnderWayIsNotDrained) {
  begin(0, {at(1, 12 * block)}, pattern(1, 64));
  engine::window(*s, lane(0)).drain();
  EXPECT_FALSE(is_free(12 * block));
  EXPECT_EQ(lane(0).drain_writer.count.drains.get(), 0u);
  decide(0);
}

// WIN-4.
TEST_F(window, AThreadThatTookBackAWindowDoesNotWait) {
  // Lane 0 has a window in block 12 and wants one in 12 and 14; lane 1 holds 14, deferred.
  commit(1, {at(1, 14 * block)}, pattern(1, 64));
  commit(0, {at(1, 12 * block)}, pattern(2, 64));
  const uint64_t before = fences(lane(0));
  begin(0, {at(1, 12 * block + 64), at(1, 14 * block + 64)}, pattern(3, 64));
  EXPECT_EQ(fences(lane(0)) - before, 1u) << "WIN-4: what was taken back is settled first";
  EXPECT_TRUE(lane(0).last().stripes.empty());
  EXPECT_EQ(lane(1).drain_writer.count.drains.get(), 1u);
  EXPECT_EQ(lane(0).w.count.lock_waits.get(), 2u) << "once for giving up, once for the lock";
  EXPECT_TRUE(lane(0).has_stripe(pool::stripes::index(0, 14)));
  decide(0);
  engine::window(*s, lane(0)).drain();
  expect_consistent(12 * block, block);
  expect_consistent(14 * block, block);
}

// WIN-1.
TEST_F(window, TakingBackWaitsForADrainInProgress) {
  // Two threads over and over: one commits in a block, the other one wants its stripe.
  std::atomic<bool> over{false};
  std::atomic<int> torn{0};
  std::thread other([&] {
    const uint32_t stripe = pool::stripes::index(0, 12);
    while (!over) {
      s->locks.lock_exclusive(stripe);
      // WIN-1: a thread that has the stripe finds data and parity in step.
      std::byte sum[block] = {};
      for (uint64_t row = 0; row < s->geo.rows + 1; ++row)
        for (uint64_t i = 0; i < block; ++i) sum[i] ^= *f.raw(at(row, 12 * block) + i);
      if (std::any_of(std::begin(sum), std::end(sum), [](std::byte b) { return b != std::byte{}; }))
        ++torn;
      s->locks.unlock_exclusive(stripe);
      std::this_thread::yield();
    }
  });
  const auto& drains = lane(0).drain_writer.count.drains;
  for (uint64_t i = 0; i < 5000 || drains.get() < 100; ++i)
    commit(0, {at(i % 4, 12 * block + i % 7 * 64)}, pattern(i, 64 + i % 3 * 64));
  over = true;
  other.join();
  EXPECT_EQ(torn, 0);
  engine::window(*s, lane(0)).drain();
  expect_consistent(12 * block, block);
}

}  // namespace
}  // namespace scute::test
