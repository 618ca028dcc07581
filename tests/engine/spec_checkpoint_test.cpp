// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of engine spec, step by step.
#include "core/engine/speculative/checkpoint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "core/engine/speculative/log_file/log_in_pool.hpp"
#include "core/shared/marks.hpp"
#include "support/pool_file.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

class spec_checkpoint : public testing::Test {
 protected:
  void SetUp() override {
    scute_options o = options(8 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
    o.rows = 4;  // of many blocks
    f.create(o);
    f.in().idle.stop();  // only the test checkpoints
    list = *engine::read_list(s());
    table.emplace(s());
    location.emplace(s(), *f.in().heap);
    log.emplace(s(), *location, list, begin, std::vector<uint64_t>());
    checkpoint.emplace(s(), *table, *log, begin, nullptr);
  }
  void TearDown() override { f.in().abandon(); }

  pool::state& s() { return f.in().s; }
  // Does the same as a commit when its bytes are in their place.
  void apply(uint64_t block, uint64_t sequence) {
    const pool::held_stripe held(s().locks, table->stripe_of(block));
    table->recorded(block, sequence);
  }

  uint64_t at_of(uint64_t block) {
    return s().geo.zone_offset(0) + s().geo.row_size + block * engine::block_table::page;
  }
  // A line of it, in place, under a record of this sequence.
  void open(uint64_t block, uint64_t sequence) {
    const uint64_t at = at_of(block);
    const pool::held_stripe held(s().locks, table->stripe_of(block));
    ASSERT_EQ(table->number_of(at), block);
    s().overlaid.add(at, sizeof old, old, 0);
    table->recorded(block, sequence);
    table->stored(block, at, sizeof old, engine::block_table::bytes_are::elsewhere);
  }

  static constexpr uint64_t begin = 1000;
  std::byte old[64] = {};
  pool_file f;
  engine::segment_list list;
  std::optional<engine::block_table> table;
  std::optional<engine::log_in_pool> location;
  std::optional<engine::commit_log> log;
  std::optional<engine::checkpoint> checkpoint;
};

// CKPT-4. It used to say that nothing was left, as did a drain: so a pool was closed with frames
// that counted, and the next session drew sequences below theirs. (Found by torture: what a crash
// of that session left lost to the older frames.)
TEST_F(spec_checkpoint, DoesNotEndWhileACommitIsInProgress) {
  checkpoint->enter(0, begin + 1);
  apply(7, begin + 5);
  EXPECT_TRUE(checkpoint->cycle()) << "the blocks are clean, and the frame counts";
  EXPECT_TRUE(table->is_clean());
  EXPECT_EQ(log->truncation_point(), begin + 1);
  checkpoint->leave(0);
  checkpoint->all();
  EXPECT_EQ(log->truncation_point(), begin + 5);
  EXPECT_FALSE(checkpoint->cycle());
}

// CKPT-3. While a commit had one block pinned, checkpoints renewed another block again and
// again. At last all segments kept for them were full of records above those of the pinned
// block. Then no thread could checkpoint that block, and so no thread ever had room again.
TEST_F(spec_checkpoint, RenewsNothingWhileABlockIsPinned) {
  const size_t kept = engine::commit_log::kept_least + 2;
  ASSERT_EQ(log->keep_back(kept, 0).missing, 0U);
  open(7, begin + 5);
  open(9, begin + 6);
  table->at(7).pins = 1;
  checkpoint->cycle();
  const uint64_t used = log->how_full().used;
  for (int i = 0; i < 1000; ++i) checkpoint->cycle();
  EXPECT_EQ(log->how_full().used, used);
  EXPECT_LT(log->truncation_point(), begin + 5);
  table->at(7).pins = 0;
  checkpoint->cycle();
  EXPECT_GE(log->truncation_point(), begin + 5);
  checkpoint->cycle();
  EXPECT_GT(log->truncation_point(), begin + 6);
}

// The same while a commit is under way whose lane has rested since long ago: it holds the
// truncation point no further back than where it was when the commit began.
TEST_F(spec_checkpoint, RenewsNothingThatACommitKeepsTheTruncationPointFrom) {
  ASSERT_EQ(log->keep_back(engine::commit_log::kept_least + 2, 0).missing, 0U);
  open(7, begin + 5);
  for (int i = 0; i < 10; ++i) checkpoint->cycle();
  const uint64_t moved = log->truncation_point();
  EXPECT_GT(moved, begin + 5);
  checkpoint->enter(0, begin + 1);
  checkpoint->cycle();
  const uint64_t used = log->how_full().used;
  for (int i = 0; i < 1000; ++i) checkpoint->cycle();
  EXPECT_EQ(log->how_full().used, used);
  EXPECT_GE(log->truncation_point(), moved);
  checkpoint->leave(0);
  checkpoint->cycle();
  EXPECT_GT(log->truncation_point(), moved);
}

// MARK-1: the time that is noted is one before which all commits are in the pool.
TEST_F(spec_checkpoint, NotesATimeWhenNothingOfItIsLeft) {
  struct : engine::log_in_pool {
    using log_in_pool::log_in_pool;
    bool is_apart() const noexcept override { return true; }
  } apart(s(), *f.in().heap);
  engine::commit_log its_log(s(), apart, list, begin, {});
  engine::checkpoint c(s(), *table, its_log, begin, nullptr);
  const auto noted = [&] {
    c.note_time(false);
    return pool::read_marks(s()).checkpointed_ns;
  };
  c.cycle();
  const uint64_t first = noted();
  EXPECT_NE(first, 0U);
  for (const unsigned k : {1U, 2U, 3U}) {
    const uint64_t before = pool::calendar_ns();
    apply(7, begin + 10 * k);
    const uint64_t after = pool::calendar_ns();
    table->at(7).pins = 1;
    for (int i = 0; i < 3; ++i) c.cycle();
    EXPECT_LE(noted(), before) << "the commit is only in the log";
    table->at(7).pins = 0;
    for (int i = 0; i < 3; ++i) c.cycle();
    EXPECT_GE(noted(), after);
    EXPECT_LE(noted(), pool::calendar_ns());
  }
}

// CLOG-6, ROOM-4. Another lane's segments used to count as gone while it wrote to them. So a
// lane that came in between was refused, or had chunks lent to the log.
TEST_F(spec_checkpoint, WaitsForWhatOtherLanesHaveTaken) {
  using engine::commit_log;
  const size_t rest = log->segments() - commit_log::kept_least;
  ASSERT_TRUE(log->make_room(1, {rest, 0, 0}));
  const commit_log::need one{1, 64, 0};
  EXPECT_FALSE(log->make_room(2, one));
  EXPECT_TRUE(log->will_have_room(one));
  EXPECT_FALSE(log->will_have_room({rest + 1, 64, 0})) << "that is more than there is";
}

// ROOM-2. The segments that a lane had taken used to count as neither free nor its own. So in
// the smallest log, a range in place found no room while another thread was about to append.
// (Found by torture: churn in 1 MiB, 6 threads on 2 lanes.)
TEST_F(spec_checkpoint, CountsWhatLanesHaveTakenAsTheirs) {
  const size_t lanes = s().geo.lane_count, all = log->segments();
  for (uint32_t lane = 0; lane < lanes; ++lane) ASSERT_TRUE(log->make_room(lane, {2, 0, 0}));
  EXPECT_EQ(log->keep_back(all - 2 * lanes, 2).missing, 0U);
  EXPECT_EQ(log->keep_back(all - 2 * lanes + 1, 2).missing, 1U);
}

// SPEC-5. A store to a block without a record leaves the block's records as they are. The block
// used to forget the oldest of them, so that the truncation point could pass it.
TEST_F(spec_checkpoint, StoresWithoutARecordLeaveTheOldestOne) {
  apply(7, begin + 5);
  apply(7, 0);
  apply(7, begin + 6);
  EXPECT_EQ(table->lowest(), begin + 5);
}

// CKPT-4. A drain that came while another thread was in a checkpoint saw an empty list, and
// returned before what was on it was durable.
TEST_F(spec_checkpoint, ADrainWaitsForTheRoundOfAnotherThread) {
  apply(7, begin + 5);
  std::thread other;
  std::optional<waiting_thread> drain;
  {
    const pool::held_stripe held(s().locks, table->stripe_of(7));
    other = std::thread([&] { checkpoint->cycle(); });
    wait_until([&] { return table->is_clean(); });
    drain.emplace([&] {
      checkpoint->all();
      EXPECT_EQ(log->truncation_point(), begin + 5);
    });
    EXPECT_TRUE(drain->comes_to_wait());
  }
  other.join();
  drain->join();
}

// CKPT-5. A transaction that did nothing but have a range open had the checkpoint renew it at every
// look, with a sync of two files each time on a disk.
TEST_F(spec_checkpoint, RestsWhenAllThatIsLeftIsOpen) {
  EXPECT_TRUE(checkpoint->rests());
  open(7, begin + 5);
  EXPECT_FALSE(checkpoint->rests());
  EXPECT_TRUE(checkpoint->cycle());
  EXPECT_TRUE(checkpoint->rests()) << "it would renew what it has renewed";
  EXPECT_TRUE(checkpoint->rests());
  apply(9, log->truncation_point() + 100);
  EXPECT_FALSE(checkpoint->rests());
  checkpoint->cycle();
  EXPECT_TRUE(checkpoint->rests());
  s().overlaid.remove(at_of(7));
  EXPECT_FALSE(checkpoint->rests()) << "the range has ended, and its record counts";
  EXPECT_FALSE(checkpoint->cycle());
  EXPECT_TRUE(checkpoint->rests());
}

// No round of a part is longer than others may wait for.
TEST_F(spec_checkpoint, APartIsCheckpointedOldestFirst) {
  constexpr uint64_t blocks = 320;
  for (uint64_t b = 0; b < blocks; ++b) apply(b, begin + 1 + b);
  EXPECT_TRUE(checkpoint->cycle_part(2));
  EXPECT_EQ(log->truncation_point(), begin + blocks / 2);
  EXPECT_TRUE(checkpoint->cycle_part(2));
  EXPECT_EQ(log->truncation_point(), begin + blocks * 3 / 4);
  EXPECT_FALSE(checkpoint->cycle_part(1));
  EXPECT_EQ(log->truncation_point(), begin + blocks);
}

// ROOM-8
TEST_F(spec_checkpoint, HelpCheckpointsTheOldestPart) {
  constexpr uint64_t blocks = 320;
  ASSERT_GE(table->count(), blocks);
  for (uint64_t b = 0; b < blocks; ++b) apply(b, begin + 1 + b);
  checkpoint->help();
  EXPECT_EQ(log->truncation_point(), begin + blocks / 4);
  EXPECT_FALSE(table->is_clean());
  checkpoint->help();
  EXPECT_EQ(log->truncation_point(), begin + blocks / 4 + 64);
  checkpoint->all();
  EXPECT_EQ(log->truncation_point(), begin + blocks);
}

// ROOM-8. No thread checkpoints until the log is three quarters full. From there on commits
// checkpoint a part whenever a segment begins. So the log gets no fuller, and no commit has to
// wait for room.
TEST(spec_help, CommitsCheckpointFromThreeQuartersOn) {
  pool_file f;
  scute_options o = options(16 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.log_cap = 2 * mib;
  f.create(o);
  f.in().idle.stop();
  std::vector<scute_oid> oids;
  for (uint64_t i = 0; i < 400; ++i) oids.push_back(f.alloc(pattern(i, 1000)));
  SCUTE_OKAY(scute_drain(f));
  const scute_info empty = f.info();
  uint64_t most = 0, before_the_first = 0, checkpoints = 0,
           truncation_point = empty.log_truncation_point;
  for (uint64_t i = 0; i < 12000; ++i) {
    f.overwrite(oids[i * 7 % oids.size()], pattern(i, 1000));
    const scute_info now = f.info();
    if (now.log_truncation_point != truncation_point) ++checkpoints;
    if (checkpoints == 0) before_the_first = now.log_used;
    truncation_point = now.log_truncation_point;
    most = std::max(most, now.log_used);
  }
  EXPECT_GT(before_the_first * 100, empty.log_cap * 65) << "a thread checkpointed before";
  EXPECT_GT(checkpoints, 10u);
  EXPECT_LT(most * 100, empty.log_cap * 90);
  EXPECT_EQ(f.info().log_cap, empty.log_cap) << "chunks were lent";
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
