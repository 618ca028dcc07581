// SPDX-License-Identifier: BSD-3-Clause
// Damage to the log of engine spec while the pool is open. Scrubs, checks and faults repair the
// records that count, before recovery could need them after a crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scrub/scrubbing.hpp"
#include "scrub/spec_image.hpp"

namespace scute::test {
using namespace core;
namespace {

class spec_log : public testing::TestWithParam<log::redundancy> {
 protected:
  spec_log() : f(GetParam()) { f.change(); }
  void noise(uint64_t offset, uint64_t n) const {
    for (uint64_t i = 0; i < n; ++i) f.raw(offset + i)[0] ^= std::byte(0x5a + i % 7);
  }
  // The pool as a kill now leaves it has everything.
  void expect_all_after_a_kill() {
    f.load(f.file());
    f.expect_sound_objects();
  }

  spec_image f;
};

// LOGSCRUB-2, CLOG-5: as it was, byte by byte.
TEST_P(spec_log, AScrubPutsBackWhatOneCopyLacks) {
  const auto frames = f.frames();
  ASSERT_GT(frames.size(), 50u);
  const bytes before = f.file();
  std::set<uint64_t> hit;
  for (size_t i = 0; i < frames.size(); i += 7) {
    const uint64_t at = f.lines_of(frames[i], false).front();
    noise(at, i % 2 == 0 ? 1 : log::line_size);
    hit.insert(at);
  }
  const uint64_t head = frames.front().where.at[0];
  noise(head, 8);
  const scrub_result r = run_scrub(f);
  EXPECT_EQ(r.count("log record (repaired)"), hit.size() + 1);
  EXPECT_EQ(r.report.damaged, hit.size() + 1);
  EXPECT_EQ(r.report.repaired, hit.size() + 1);
  EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), hit.size() + 1);
  const bytes after = f.file();
  for (const uint64_t at : hit)
    EXPECT_TRUE(std::equal(before.begin() + static_cast<long>(at),
                           before.begin() + static_cast<long>(at + log::line_size),
                           after.begin() + static_cast<long>(at)));
  EXPECT_TRUE(std::equal(before.begin() + static_cast<long>(head),
                         before.begin() + static_cast<long>(head + log::line_size),
                         after.begin() + static_cast<long>(head)));
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  expect_all_after_a_kill();
}

TEST_P(spec_log, ACheckSeesItAndWithRepairPutsItRight) {
  const auto frames = f.frames();
  noise(f.lines_of(frames[3], false).front(), 64);
  EXPECT_EQ(f.check().damaged, 1u);
  EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_DETECTED), 1u);
  std::vector<std::string> findings;
  EXPECT_EQ(f.check(true, &findings).repaired, 1u);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].find("log record"), std::string::npos) << findings[0];
  f.expect_sound();
  expect_all_after_a_kill();
}

// LOGSCRUB-3
TEST_P(spec_log, RecordsLostInEveryCopyAreCheckpointed) {
  const auto frames = f.frames();
  for (const uint64_t at : f.lines_of(frames[5], true)) noise(at, 64);
  const uint64_t before = f.in().engine->log().truncation_point;
  const scrub_result r = run_scrub(f);
  EXPECT_EQ(r.count("log segment (repaired)"), 1u);
  EXPECT_EQ(r.report.lost, 0u);
  EXPECT_GE(f.in().engine->log().truncation_point, frames.back().sequence);
  EXPECT_GT(f.in().engine->log().truncation_point, before);
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  f.change(3, 5000);  // the lane continues after it
  expect_all_after_a_kill();
}

TEST_P(spec_log, AllOfItCanBecomeNoise) {
  for (const auto& [offset, length] : f.live()) noise(offset, length);
  EXPECT_GT(run_scrub(f).report.repaired, 0u);
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  f.change(2, 7000);
  expect_all_after_a_kill();
}

// Without a scrub, the next use of the segments gives them the bytes that they must have.
TEST_P(spec_log, UnnoticedNoiseDoesNoHarmWhileThePoolIsOpen) {
  for (const auto& [offset, length] : f.live()) noise(offset, length);
  f.change(1, 2000);
  f.expect_objects();
  f.reopen();
  f.rest();
  f.expect_sound_objects();
}

TEST_P(spec_log, ListAndTruncationPointAreWrittenAgain) {
  SCUTE_OKAY(scute_drain(f));
  f.change(2, 3000);
  f.in().engine->background();
  f.change(2, 4000);
  const pool::state& s = f.in().s;
  for (uint32_t replica = 0; replica < 2; ++replica) {
    const uint64_t lane = s.geo.lane_offset(0, replica);
    const uint64_t list = engine::list_copies(s, f.list())[replica];
    noise(list + 64, 8);
    EXPECT_EQ(run_scrub(f).count("list of log segments (repaired)"), 1u);
    noise(lane + offsetof(format::lane_status, truncation_point), 32);  // both places
    EXPECT_EQ(run_scrub(f).count("log truncation point (repaired)"), 1u);
    EXPECT_EQ(run_scrub(f).report.damaged, 0u);
    noise(list, 64);
    EXPECT_EQ(f.check(true).repaired, 1u);
  }
  expect_all_after_a_kill();
}

// LOGSCRUB-1
TEST_P(spec_log, VoidFramesAreNotReportedAsDamage) {
  SCUTE_OKAY(scute_drain(f));
  EXPECT_TRUE(f.live().empty());
  for (const log::segment& at : f.segments()) noise(at.at[0] + 4096, 512);
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  f.expect_sound();
  f.change(1, 2000);
  expect_all_after_a_kill();
}

// INJECT-5, PAGE-8.
TEST_P(spec_log, InjuriesHitWhatIsInUse) {
  const auto live = f.live();
  ASSERT_FALSE(live.empty());
  for (const auto kind : {SCUTE_INJURE_FLIP, SCUTE_INJURE_SCRIBBLE, SCUTE_INJURE_LOSE_PAGE}) {
    scute_injection what;
    scute_injection_init(&what);
    what.kind = kind;
    what.region = SCUTE_REGION_LOG;
    what.bits = 8;
    what.length = 100;
    what.count = 5;
    what.seed = 7;
    std::vector<uint64_t> places;
    SCUTE_OKAY(scute_inject(
        f, &what,
        [](void* arg, uint64_t offset, uint64_t) {
          static_cast<std::vector<uint64_t>*>(arg)->push_back(offset);
        },
        &places, nullptr));
    EXPECT_FALSE(places.empty());
    for (const uint64_t at : places)
      EXPECT_TRUE(std::ranges::any_of(live, [&](const auto& l) {
        return at >= l.first && at < l.first + l.second;
      })) << at;
    run_scrub(f);
    EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  }
  f.change(3, 9000);
  expect_all_after_a_kill();
}

// PAGE-8: a commit that appends to the page continues; the bytes that the page held come back
// from the other copy.
TEST_P(spec_log, ALostPageComesBack) {
  const auto frames = f.frames();
  const bytes before = f.file();
  std::set<uint64_t> pages;
  for (const auto& x : frames) pages.insert(f.lines_of(x, false).front() / 4096 * 4096);
  const auto lose = [&](uint64_t page) {
    scute_injection what;
    scute_injection_init(&what);
    what.kind = SCUTE_INJURE_LOSE_PAGE;
    what.offset = page;
    what.count = 1;
    SCUTE_OKAY(scute_inject(f, &what, nullptr, nullptr, nullptr));
  };
  const uint64_t page = *pages.rbegin();
  lose(page);
  f.change(6, 6000);
  EXPECT_TRUE(std::ranges::any_of(
      frames, [&](const auto& x) { return f.lines_of(x, false).front() / 4096 * 4096 == page; }));
  // The thread that touches the page recovers it, or a scrub does.
  if (f.in().s.medium->is_revoked(page)) run_scrub(f);
  while (f.in().s.lost_log.pending()) f.in().engine->background();
  EXPECT_GE(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), 1u);
  EXPECT_EQ(f.info().lost, 0u);
  EXPECT_EQ(run_scrub(f).report.damaged, 0u);
  expect_all_after_a_kill();
}

// LOSTLOG-1. Both copies of a page: then everything is checkpointed.
TEST_P(spec_log, PagesThatAreLostInAllCopiesCostNothing) {
  const auto frames = f.frames();
  std::set<uint64_t> pages;
  for (const uint64_t at : f.lines_of(frames[4], true)) pages.insert(at / 4096 * 4096);
  std::vector<std::byte> bad(4096, std::byte{0x77});
  for (const uint64_t page : pages) f.in().pages->lose(page, bad.data());
  const volatile std::byte* touch = nullptr;
  for (const uint64_t page : pages) {
    touch = f.raw(page);
    (void)*touch;
  }
  EXPECT_TRUE(f.in().s.lost_log.pending());
  f.in().engine->background();
  EXPECT_FALSE(f.in().s.lost_log.pending());
  EXPECT_GE(f.in().engine->log().truncation_point, frames.back().sequence);
  expect_all_after_a_kill();
}

// LOGSCRUB-4. No check looked at them before.
TEST_P(spec_log, ADamagedListOfAClosedPoolIsRepairedByOpening) {
  SCUTE_RANDOM(random);
  for (uint32_t replica = 0; replica < 2; ++replica) {
    const uint64_t list = engine::list_copies(f.in().s, f.list())[replica];
    f.close();
    bytes image = f.file();
    for (uint64_t at = list; at < list + 64; ++at)
      image[at] = static_cast<unsigned char>(random.word());
    write_file(f.path, image);
    f.open();
    f.rest();
    // Those of the sessions before are remembered.
    EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), replica + 1u);
    EXPECT_EQ(f.info().repaired, 1u);
    f.expect_sound_objects();
    f.reopen();
    f.rest();
    EXPECT_EQ(f.info().repaired, 0u);
  }
}

// A page of objects and a page of the log in one column: one parity is enough, which knows the log
// as zeros.
TEST_P(spec_log, ALostLogPageIsNoLossToItsColumn) {
  const pool::geometry& g = f.in().s.geo;
  const log::segment at = f.frames().front().where;
  const pool::cell c = pool::cell_of(g, at.at[0]);
  std::vector<std::byte> bad(4096, std::byte{0x77});
  f.in().pages->lose(at.at[0], bad.data());
  uint64_t lost = 0;
  for (uint64_t row = 0; row < g.rows && lost == 0; ++row) {
    const uint64_t page = g.zone_offset(c.zone) + row * g.row_size + c.column / 4096 * 4096;
    if (row != c.row && !f.in().s.overlaid.lent(page, 4096)) lost = page;
  }
  ASSERT_NE(lost, 0u);
  f.in().pages->lose(lost, bad.data());
  run_scrub(f);
  EXPECT_EQ(f.info().lost, 0u);
  f.expect_sound_objects();
  expect_all_after_a_kill();
}

INSTANTIATE_TEST_SUITE_P(Redundancy, spec_log,
                         testing::Values(log::redundancy::two_copies, log::redundancy::tracks),
                         [](const auto& p) {
                           return p.param == log::redundancy::tracks ? "Tracks" : "TwoCopies";
                         });

// Logs are replicated from ml on, and a lost page of one costs nothing at any level.
TEST(spec_log_levels, ALostPageComesBackWithoutParity) {
  for (const auto level : {SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP}) {
    SCOPED_TRACE(level);
    spec_image f(log::redundancy::two_copies, level);
    f.change();
    scute_injection what;
    scute_injection_init(&what);
    what.kind = SCUTE_INJURE_LOSE_PAGE;
    what.region = SCUTE_REGION_LOG;
    what.count = 2;
    uint64_t done = 0;
    SCUTE_OKAY(scute_inject(f, &what, nullptr, nullptr, &done));
    EXPECT_EQ(done, 2u);
    f.change(2, 4000);
    run_scrub(f);
    while (f.in().s.lost_log.pending()) f.in().engine->background();
    EXPECT_EQ(run_scrub(f).report.damaged, 0u);
    f.load(f.file());
    f.expect_sound_objects();
    // Of objects it is as it was: nothing could bring them back.
    if (level < SCUTE_PROTECT_MLP) {
      what.region = SCUTE_REGION_OBJECT;
      SCUTE_FAILS(SCUTE_E_UNSUPPORTED, scute_inject(f, &what, nullptr, nullptr, nullptr));
    }
  }
}

}  // namespace
}  // namespace scute::test
