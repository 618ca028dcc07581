// SPDX-License-Identifier: BSD-3-Clause
// A pool of engine spec whose log is created again passes through another engine. A process that
// is killed on this way leaves a pool that has its log again in the end.
#include <chrono>
#include <cstring>

#include "core/shared/pool/superblock.hpp"
#include "session/log_file.hpp"
#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using core::format::superblock;
using clock = std::chrono::steady_clock;

superblock in_copy(const bytes& file, size_t at) {
  superblock sb;
  std::memcpy(&sb, file.data() + at, sizeof sb);
  return sb;
}
// The newest valid superblock of the first two.
superblock superblock_of(const std::string& path) {
  const bytes file = read_file(path);
  superblock newest{};
  for (const size_t at : {size_t{0}, size_t{4096}}) {
    const superblock sb = in_copy(file, at);
    if (sb.checksum == core::pool::superblock_checksum(sb) && sb.sequence > newest.sequence)
      newest = sb;
  }
  return newest;
}
void set_goal(const std::string& path, uint32_t goal, uint64_t log_cap = 0, uint64_t compat = 0) {
  bytes file = read_file(path);
  for (const size_t at : {size_t{0}, size_t{4096}, file.size() - 4096}) {
    superblock sb = in_copy(file, at);
    sb.goal = goal;
    sb.log_cap = log_cap;
    sb.compat = compat;
    sb.checksum = core::pool::superblock_checksum(sb);
    std::memcpy(file.data() + at, &sb, sizeof sb);
  }
  write_file(path, file);
}

class killed_way : public testing::TestWithParam<uint32_t> {
 protected:
  static scute_options shape() {
    scute_options o = on_disk();
    o.parity = GetParam();
    o.log_cap = 512 * kib;
    return o;
  }
  // Kills a process that does it after each of so many parts of the time that it takes.
  template <typename Prepare, typename Do, typename Verify>
  static void kill_at_all_times(unsigned kills, Prepare&& prepare, Do&& act, Verify&& verify) {
    prepare();
    const auto begin = clock::now();
    in_child(act);
    const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - begin);
    verify();
    for (unsigned k = 0; k < kills; ++k) {
      prepare();
      child c(act);
      pause(whole * (k * 7 % kills) / kills);
      c.end();
      verify();
    }
  }
};

// GOAL-1, GOAL-3
TEST_P(killed_way, OpenedWithoutTheLostLog) {
  disk_pool f(shape());
  const uint64_t cap = f.info().log_cap;
  unsigned by = 0, on_the_way = 0;
  kill_at_all_times(
      50,
      [&] {
        f.change(++by);
        SCUTE_OKAY(scute_drain(f));
        f.kill();
        fs::remove(f.log);
      },
      [&] { SCUTE_OKAY_E(f.open_how(SCUTE_WITHOUT_LOG)); },
      [&] {
        const superblock sb = superblock_of(f.path);
        const bool is_away = sb.engine != SCUTE_ENGINE_SPEC;
        on_the_way += is_away;
        EXPECT_EQ(is_away, sb.goal == SCUTE_ENGINE_SPEC);
        f.pool = nullptr;
        const int e = f.open_how();
        // The whole log is gone, and no process has continued without it yet.
        if (e != SCUTE_OK) {
          EXPECT_EQ(e, SCUTE_E_CORRUPT);
          EXPECT_FALSE(is_away);
          SCUTE_OKAY(f.open_how(SCUTE_WITHOUT_LOG));
        }
        EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
        EXPECT_EQ(f.info().log_cap, cap);
        EXPECT_EQ(f.info().lost_logs, by);  // MARK-2
        EXPECT_EQ(superblock_of(f.path).goal, 0U);
        EXPECT_TRUE(fs::exists(f.log));
        f.expect_last();
      });
  std::printf("%u of 51 were between engines\n", on_the_way);
  EXPECT_GT(on_the_way, 0U);
}

// A log of another size, which is the old log if no process has come to create it.
TEST_P(killed_way, AnotherSize) {
  disk_pool f(shape());
  f.change(1);
  f.close();
  unsigned by = 0, on_the_way = 0;
  scute_options o = opening(0, SCUTE_MEDIUM_FILE);
  kill_at_all_times(
      50, [&] { o.log_cap = ++by % 2 == 1 ? mib : 512 * kib; },
      [&] { SCUTE_OKAY_E(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC)); },
      [&] {
        const superblock left = superblock_of(f.path);
        const bool is_away = left.engine != SCUTE_ENGINE_SPEC;
        on_the_way += is_away;
        f.open();
        EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
        EXPECT_EQ(superblock_of(f.path).goal, 0U);
        EXPECT_EQ(superblock_of(f.path).log_cap, is_away ? o.log_cap : left.log_cap);
        f.expect_last();
        f.close();
      });
  std::printf("%u of 51 were between engines\n", on_the_way);
  EXPECT_GT(on_the_way, 0U);
}

INSTANTIATE_TEST_SUITE_P(, killed_way, testing::Values(1U, 2U),
                         [](const auto& p) { return "parity" + std::to_string(p.param); });

// GOAL-2
TEST(goal, OneOfAnEngineThatAnOlderLibraryHasGivenIsNone) {
  for (const scute_engine engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE}) {
    scute_options o = on_disk();
    o.engine = engine;
    disk_pool f(o);
    f.change(1);
    f.close();
    set_goal(f.path, SCUTE_ENGINE_SPEC);
    const bytes before = read_file(f.path);
    SCUTE_OKAY(f.open_how(SCUTE_READONLY));
    EXPECT_EQ(f.info().engine, static_cast<uint32_t>(engine));
    f.close();
    EXPECT_EQ(read_file(f.path), before);
    f.open();
    const bool is_lender = engine == SCUTE_ENGINE_REDO;
    EXPECT_EQ(f.info().engine, static_cast<uint32_t>(is_lender ? SCUTE_ENGINE_SPEC : engine));
    EXPECT_EQ(superblock_of(f.path).goal, 0U);
    EXPECT_EQ(fs::exists(f.log), is_lender);
    f.expect_last();
  }
}

// GOAL-2, GOAL-3, ASKED-1: a goal that does not count is no engine of the pool.
TEST(goal, OneThatDoesNotCountIsNotAsAsked) {
  for (const scute_engine engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE}) {
    scute_options o = on_disk();
    o.engine = engine;
    disk_pool f(o);
    f.close();
    set_goal(f.path, SCUTE_ENGINE_SPEC);
    const auto open_as = [&](scute_engine asked, uint32_t flags) {
      scute_options how = opening(flags, SCUTE_MEDIUM_FILE);
      how.engine = asked;
      const int e = scute_open(f.path.c_str(), &how, &f.pool);
      if (e == SCUTE_OK)
        f.close();
      else
        f.pool = nullptr;
      return e;
    };
    EXPECT_EQ(open_as(SCUTE_ENGINE_SPEC, SCUTE_READONLY), SCUTE_E_INVALID);
    EXPECT_EQ(open_as(engine, SCUTE_READONLY), SCUTE_OK);
    const bool is_lender = engine == SCUTE_ENGINE_REDO;
    EXPECT_EQ(open_as(is_lender ? engine : SCUTE_ENGINE_SPEC, 0), SCUTE_E_INVALID);
    EXPECT_EQ(open_as(is_lender ? SCUTE_ENGINE_SPEC : engine, 0), SCUTE_OK);
  }
}

// GOAL-4: the pool has no room for the log that was asked for.
TEST(goal, ALogThatIsTooLargeIsMadeSmaller) {
  pool_file f;
  f.create(options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO}));
  const scute_oid oid = f.alloc(pattern(1, 3000));
  f.close();
  set_goal(f.path, SCUTE_ENGINE_SPEC, 1024 * mib);
  f.open();
  EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
  const superblock sb = superblock_of(f.path);
  EXPECT_EQ(sb.goal, 0U);
  EXPECT_LT(sb.log_cap, 2 * mib);
  EXPECT_GE(sb.log_cap, 128 * kib);
  EXPECT_EQ(f.read(oid), pattern(1, 3000));
  f.close();
  f.open();
}

// GOAL-5: also if the process that gave a log in a file up was killed on its way.
TEST(goal, ALogOfAFileIsMadeInOneWhateverTheMedium) {
  for (const bool in_file : {false, true}) {
    pool_file f;
    f.create(options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO}));
    const scute_oid oid = f.alloc(pattern(1, 3000));
    f.close();
    set_goal(f.path, SCUTE_ENGINE_SPEC, 0, in_file ? core::format::compat_goal_in_file : 0);
    f.open();
    EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
    EXPECT_EQ(fs::exists(f.path + ".log"), in_file);
    EXPECT_EQ(superblock_of(f.path).goal, 0U);
    EXPECT_EQ(superblock_of(f.path).compat, 0U);
    EXPECT_EQ(f.read(oid), pattern(1, 3000));
  }
}

// Without room for the log the pool waits, and loses nothing.
TEST(goal, StaysWhileTheLogCannotBeMade) {
  scute_options o = on_disk();
  o.engine = SCUTE_ENGINE_REDO;
  disk_pool f(o);
  f.change(1);
  f.close();
  set_goal(f.path, SCUTE_ENGINE_SPEC);
  write_file(f.log, bytes(5000, 7));  // of another program
  for (unsigned k = 0; k < 2; ++k) {
    SCUTE_FAILS(SCUTE_E_EXISTS, f.open_how());
    f.pool = nullptr;
    EXPECT_EQ(superblock_of(f.path).goal, static_cast<uint32_t>(SCUTE_ENGINE_SPEC));
    SCUTE_OKAY(f.open_how(SCUTE_READONLY));
    f.expect_last();
    f.close();
  }
  fs::remove(f.log);
  f.open();
  EXPECT_EQ(f.info().engine, SCUTE_ENGINE_SPEC);
  f.expect_last();
}

}  // namespace
}  // namespace scute::test
