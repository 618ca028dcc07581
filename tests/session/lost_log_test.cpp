// SPDX-License-Identifier: BSD-3-Clause
// MARK-1, MARK-2: a pool that was opened without its log says so from then on, and what it may
// lack.
#include <functional>
#include <utility>

#include "core/shared/marks.hpp"
#include "core/shared/pool/superblock.hpp"
#include "session/log_file.hpp"
#include "support/shielded.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using core::pool::calendar_ns;

struct lost_log : testing::Test {
  void lose() {
    f.kill();
    fs::remove(f.log);
    SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
  }
  disk_pool f;
};

TEST_F(lost_log, IsNoneInAnyOtherPool) {
  f.change(1);
  f.kill();
  f.open();
  f.close();
  fs::remove(f.log);  // nothing in it was needed
  f.open();
  EXPECT_EQ(f.info().lost_logs, 0U);
  EXPECT_EQ(f.info().lost_log_session, 0U);
}

// A closing has made all durable that came before it.
TEST_F(lost_log, IsNotedWithTheLastClosing) {
  f.change(1);
  f.close();
  const uint64_t closed = calendar_ns();
  f.open();
  f.pool->in->idle.stop();  // no checkpoint
  const uint64_t session = f.info().epoch;
  f.change(2);
  f.kill();
  fs::remove(f.log);
  const uint64_t before = calendar_ns();
  SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
  const scute_info i = f.info();
  EXPECT_EQ(i.lost_logs, 1U);
  EXPECT_EQ(i.lost_log_session, session);
  EXPECT_LE(i.lost_log_since_ns, closed);
  EXPECT_GE(i.lost_log_since_ns + 600'000'000'000, closed);
  EXPECT_GE(i.lost_log_opened_ns, before);
  EXPECT_LE(i.lost_log_opened_ns, calendar_ns());
}

// The thread that checkpoints in the background notes when it has done all.
TEST_F(lost_log, IsNotedWithTheLastCheckpoint) {
  f.change(1);
  const uint64_t changed = calendar_ns();
  const auto noted = [&] { return core::pool::read_marks(f.pool->in->s).checkpointed_ns; };
  ASSERT_TRUE(becomes_true([&] { return noted() > changed; }));
  lose();
  EXPECT_GT(f.info().lost_log_since_ns, changed);
  f.expect_last();
}

// It stays: over kills, closings, checks, engine switches, and another loss, which counts.
TEST_F(lost_log, StaysOnTheMedium) {
  f.change(1);
  lose();
  scute_info first = f.info();
  EXPECT_EQ(first.lost_logs, 1U);
  const auto expect_first = [&] {
    const scute_info i = f.info();
    EXPECT_EQ(i.lost_logs, 1U);
    EXPECT_EQ(i.lost_log_session, first.lost_log_session);
    EXPECT_EQ(i.lost_log_since_ns, first.lost_log_since_ns);
    EXPECT_EQ(i.lost_log_opened_ns, first.lost_log_opened_ns);
  };
  f.kill();
  f.open();
  expect_first();
  f.check(true);
  f.survive(2);
  SCUTE_OKAY(f.open_how(SCUTE_READONLY));
  expect_first();
  f.close();
  for (const scute_engine to : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_SPEC}) {
    const scute_options any = opening();
    SCUTE_OKAY(scute_set_engine(f.path.c_str(), &any, to));
    f.open();
    expect_first();
    f.close();
  }
  f.open();
  lose();
  EXPECT_EQ(f.info().lost_logs, 2U);
  EXPECT_GT(f.info().lost_log_session, first.lost_log_session);
  EXPECT_GT(f.info().lost_log_opened_ns, first.lost_log_opened_ns);
}

// GOAL-5: by an opening that would put a log into the pool, as in memory.
TEST(lost_log_in_memory, IsMadeAgainInAFile) {
  disk_pool f(on_disk(), scratch::memory);
  f.change(1);
  f.kill();
  fs::remove(f.log);
  const scute_options how = opening(SCUTE_WITHOUT_LOG);
  SCUTE_OKAY(scute_open(f.path.c_str(), &how, &f.pool));
  EXPECT_TRUE(fs::exists(f.log));
  EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
  f.check(true);
  f.expect_last();
}

// The pool of a shielded file has no room for it.
TEST(lost_log_in_memory, OfAShieldedFileIsMadeAgain) {
  shielded f(scratch::memory);
  f.make(3 * mib);
  scute_options o = shielded::options(SCUTE_ENGINE_SPEC);
  o.medium = SCUTE_MEDIUM_FILE;
  f.add(o);
  const std::string log = f.sidecar() + ".log";
  SCUTE_OKAY(scute_shield_open(f.path.c_str(), &o, &f.pool));
  f.write(5000, pattern(7, 9000));
  f.in().abandon();
  f.close();
  ASSERT_TRUE(fs::remove(log));
  f.open(SCUTE_WITHOUT_LOG);
  EXPECT_TRUE(fs::exists(log));
  f.check(true);
  f.expect_content();
  f.close();
}

// SB-3: a copy of the superblock that an opening has torn is none the worse for the mark.
TEST_F(lost_log, MakesATornCopyOfTheSuperblockNoDamage) {
  f.change(1);
  lose();
  f.close();
  f.open();
  const bytes before = read_file(f.path);
  f.kill();
  f.open();
  f.kill();
  bytes torn = read_file(f.path);
  // The first half of the fields that an opening changes is that of the opening before.
  for (const size_t at : {size_t{120}, size_t{208}})
    std::copy_n(before.begin() + static_cast<ptrdiff_t>(at), 8,
                torn.begin() + static_cast<ptrdiff_t>(at));
  ASSERT_NE(read_file(f.path), torn);
  write_file(f.path, torn);
  f.open();
  EXPECT_EQ(f.info().repaired, 0U);
  EXPECT_EQ(f.info().lost_logs, 1U);
  // A byte of the mark is damage.
  f.close();
  write_at(f.path, 330, "x", 1);
  f.open();
  EXPECT_EQ(f.info().repaired, 1U);
  EXPECT_EQ(f.info().lost_logs, 1U);
}

}  // namespace
}  // namespace scute::test
