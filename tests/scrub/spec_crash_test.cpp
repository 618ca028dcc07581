// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: damage and an unclean end together (docs/guides/recover.md, "A crash and damage
// at once"). The parts of the log that its redundancy covers come back. In columns with records
// that are not checkpointed, an object comes back or is refused with an error, and is never
// wrong. A moment after the last transaction nothing is exposed any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scrub/spec_image.hpp"
#include "support/project_paths.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

void noise(bytes& image, uint64_t from, uint64_t n, random_source& random) {
  for (uint64_t at = from; at < from + n; ++at)
    image[at] = static_cast<unsigned char>(random.word());
}

// A pool before and after some transactions, all of whose records are live.
class crash_story {
 protected:
  explicit crash_story(log::redundancy how, scute_protection level = SCUTE_PROTECT_MLPC)
      : f(how, level) {
    f.fill();
    before = f.file();
    const uint64_t checkpointed = f.in().engine->log().truncation_point;
    f.change(how == log::redundancy::tracks ? 17 : 9);
    EXPECT_EQ(f.in().engine->log().truncation_point, checkpointed);
    after = f.file();
  }
  // The bytes that a power failure can have left: the log, and elsewhere any words of before and
  // after.
  bytes torn(random_source& random) const {
    bytes image = after;
    const uint64_t density = random.between(0, 8);
    for (uint64_t at = f.in().s.geo.zones_offset; at < f.in().s.geo.zones_end(); at += 8)
      if (!f.in().s.overlaid.lent(at, 8) && random.between(1, 8) > density)
        std::copy_n(before.begin() + static_cast<long>(at), 8,
                    image.begin() + static_cast<long>(at));
    return image;
  }
  // Everything is as it was committed, or refused; the number of those that are refused.
  uint64_t refused() {
    uint64_t n = 0;
    for (const auto& [oid, content] : f.objects) {
      const void* at = nullptr;
      const int e = scute_get_verified(f, oid, &at);
      if (e == SCUTE_OK)
        EXPECT_EQ(0, std::memcmp(at, content.data(), content.size()))
            << "object at " << f.offset_of(oid) << " is wrong, and nothing says so";
      else
        EXPECT_EQ(e, SCUTE_E_CORRUPT);
      n += e == SCUTE_OK ? 0 : 1;
    }
    return n;
  }

  // Pages of objects, and of their parity.
  std::vector<uint64_t> some_pages(random_source& random) const {
    const pool::geometry& g = f.in().s.geo;
    std::set<uint64_t> pages;
    for (const auto& [oid, content] : f.objects) pages.insert(f.offset_of(oid) / 4096 * 4096);
    const uint64_t parity = g.zone_offset(0) + g.data_size;
    for (const uint64_t page : std::set<uint64_t>(pages))
      pages.insert(parity + (page - g.zone_offset(0)) % g.row_size);
    std::vector<uint64_t> some;
    std::ranges::sample(pages, std::back_inserter(some), 12, std::mt19937_64(random.word()));
    return some;
  }
  // The loss is noted in the pool, as an injection does it.
  bytes with_lost_page(bytes image, uint64_t page) {
    const pool::geometry g = f.in().s.geo;
    const std::vector<std::byte> bad(4096, std::byte{0x77});
    f.load(before);
    f.in().pages->lose(page, bad.data());
    const bytes noted = f.file();
    format::superblock sb;  // of the session that was cut short
    std::memcpy(&sb, after.data(), sizeof sb);
    for (unsigned copy = 0; copy < 3; ++copy) {
      const uint64_t at = g.superblock_offset(copy);
      std::memcpy(image.data() + at, noted.data() + at, 4096);
      std::memcpy(image.data() + at, &sb, sizeof sb);
    }
    std::memcpy(image.data() + page, bad.data(), bad.size());
    return image;
  }

  // Its lane has appended something after it.
  static bool is_followed(const spec_image::frame_place& gone,
                          const std::vector<spec_image::frame_place>& frames) {
    return std::ranges::any_of(frames, [&](const spec_image::frame_place& x) {
      return x.lane == gone.lane && x.sequence > gone.sequence;
    });
  }

  spec_image f;
  bytes before, after;
};

class spec_crash : public crash_story, public testing::TestWithParam<log::redundancy> {
 protected:
  spec_crash() : crash_story(GetParam()) {}
};

// REPLAY-1, GAP-1: a page of the log in one copy, or in one track.
TEST_P(spec_crash, OneCopyOfTheLogIsEnough) {
  SCUTE_RANDOM(random);
  const auto live = f.live();
  for (int round = 0; round < 24; ++round) {
    bytes image = round % 3 == 0 ? after : torn(random);
    const auto& [offset, length] = live[random.between(0, live.size() - 1)];
    const uint64_t page = offset + random.between(0, length / 4096 - 1) * 4096;
    noise(image, page, round % 2 == 0 ? 4096 : 64, random);
    SCOPED_TRACE("page " + std::to_string(page) + ", round " + std::to_string(round));
    f.load(image);
    f.expect_sound_objects();
    if (HasFailure()) return;
  }
}

TEST_P(spec_crash, DamageToOneCopyIsReportedAsDamage) {
  const auto frames = f.frames();
  bytes image = after;
  image[f.lines_of(frames[2], false).front() + 40] ^= 0x10;
  f.load(image);
  EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), 1u);
  for (const scute_event& e : f.events())
    if (e.kind == SCUTE_EVENT_LOG) {
      EXPECT_EQ(e.finder, SCUTE_FINDER_OPEN);
      EXPECT_EQ(e.offset, f.lines_of(frames[2], false).front());
    }
  f.expect_sound_objects();
  // The state that a kill has left is no damage.
  f.load(after);
  EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), 0u);
}

// GAP-2, GAP-4: a record that is missing in all copies is reported if others follow it.
TEST_P(spec_crash, AMissingRecordIsReported) {
  SCUTE_RANDOM(random);
  const auto frames = f.frames();
  for (int round = 0; round < 10; ++round) {
    bytes image = torn(random);
    const auto& gone = frames[random.between(0, frames.size() - 3)];
    for (const uint64_t at : f.lines_of(gone, true)) noise(image, at, 64, random);
    const bool followed = is_followed(gone, frames);
    f.load(image);
    EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_LOST) != 0, followed);
    EXPECT_EQ(f.info().lost != 0, followed);
    // Once: the next opening has nothing to tell.
    f.reopen();
    f.rest();
    EXPECT_EQ(f.info().lost, 0u);
  }
}

// GAP-5: no record follows the last record of a segment.
TEST_P(spec_crash, AMissingLastRecordOfASegmentIsReported) {
  SCUTE_RANDOM(random);
  const auto frames = f.frames();
  uint64_t tried = 0;
  for (size_t i = 0; i + 1 < frames.size() && tried < 4; ++i) {
    const auto& gone = frames[i];
    if (frames[i + 1].where.at[0] == gone.where.at[0] || !is_followed(gone, frames)) continue;
    ++tried;
    bytes image = torn(random);
    for (const uint64_t at : f.lines_of(gone, true)) noise(image, at, 64, random);
    f.load(image);
    EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_LOST), 1u);
    for (const scute_event& e : f.events())
      if (e.kind == SCUTE_EVENT_LOG && e.outcome == SCUTE_OUTCOME_LOST) {
        EXPECT_EQ(e.offset, gone.where.at[0]);
      }
    f.reopen();
    f.rest();
    EXPECT_EQ(f.info().lost, 0u);
  }
  EXPECT_NE(tried, 0u);
}

// GAP-3
TEST_P(spec_crash, AMissingSegmentIsReported) {
  SCUTE_RANDOM(random);
  bytes image = after;
  for (const auto& [offset, length] : f.live()) noise(image, offset, length, random);
  f.load(image);
  EXPECT_GE(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_LOST), 1u);
  // A kill leaves the pool itself whole.
  f.expect_objects();
  f.load(f.file());
  EXPECT_EQ(f.info().lost, 0u);
  f.expect_sound_objects();
}

// The same for a segment in which no record counted: its head would have said so, and nothing
// else knows. Recovery reports it once, and nothing is missing.
TEST_P(spec_crash, NoiseOverAVoidSegmentIsReportedAsWell) {
  SCUTE_RANDOM(random);
  const auto live = f.live();
  const auto where = f.segments();
  const uint64_t size = f.list().segment_size, copies = f.list().layout().copies();
  size_t tried = 0;
  for (const log::segment& at : where) {
    bytes image = after;
    // Only one that was used before has a head.
    uint32_t magic = 0;
    std::memcpy(&magic, image.data() + at.at[0], sizeof magic);
    const bool is_live =
        std::ranges::any_of(live, [&](const auto& range) { return range.first == at.at[0]; });
    if (magic != format::segment_magic || is_live || ++tried > 3) continue;
    for (uint64_t c = 0; c < copies; ++c) noise(image, at.at[c], size, random);
    f.load(image);
    EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_LOST), 1u);
    f.expect_objects();
    f.load(f.file());
    EXPECT_EQ(f.info().lost, 0u);
    f.expect_sound_objects();
    if (HasFailure()) return;
  }
  EXPECT_NE(tried, 0u);
}

TEST_P(spec_crash, TheCommandReportsItByItsStatus) {
  bytes image = after;
  SCUTE_RANDOM(random);
  for (const auto& [offset, length] : f.live()) noise(image, offset, length, random);
  f.close();
  write_file(f.path, image);
  const std::string command = std::string(scute_command) + " check --quiet " + f.path;
  const int status = std::system((command + " >" + f.dir.file("said") + " 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  const bytes said = read_file(f.dir.file("said"));
  EXPECT_NE(std::string(said.begin(), said.end()).find("log records lost"), std::string::npos)
      << std::string(said.begin(), said.end());
}

// SUSPAGE-1, SUSPAGE-2: a page of objects is lost while their records are live.
TEST_P(spec_crash, ALostPageIsRebuiltOrReported) {
  SCUTE_RANDOM(random);
  uint64_t all = 0;
  for (const uint64_t page : some_pages(random)) {
    for (const bool killed : {true, false}) {
      SCOPED_TRACE("page " + std::to_string(page) + (killed ? ", killed" : ", power failure"));
      f.load(with_lost_page(killed ? after : torn(random), page));
      const uint64_t n = refused();
      // A kill leaves all of the live view, which nothing is missing of.
      EXPECT_TRUE(!killed || n == 0) << n;
      EXPECT_GE(f.info().lost, n);
      all += n;
      if (HasFailure()) return;
    }
  }
  RecordProperty("refused", static_cast<int>(all));
}

// A scribble over objects with live records is reported, and nothing is wrong; elsewhere it is
// repaired.
TEST_P(spec_crash, ScribblesAreRepairedOrReported) {
  SCUTE_RANDOM(random);
  const pool::geometry g = f.in().s.geo;
  for (int round = 0; round < 30; ++round) {
    bytes image = torn(random);
    uint64_t at = 0;
    do {
      at = g.chunk_offset(0, 0) + random.between(0, g.chunks * g.chunk_size - 4096);
    } while (f.in().s.overlaid.lent(at, 1) || f.in().s.overlaid.lent(at + 600, 1));
    noise(image, at, random.between(1, 600), random);
    SCOPED_TRACE("at " + std::to_string(at) + ", round " + std::to_string(round));
    f.load(image);
    const uint64_t n = refused();
    scute_report r = f.check(true);
    EXPECT_GE(r.lost, n != 0 ? 1u : 0u);
    refused();
    if (HasFailure()) return;
  }
}

// Nothing is exposed any more when all is checkpointed: any one row may be noise then.
TEST_P(spec_crash, CheckpointedRecordsAreNotExposed) {
  SCUTE_RANDOM(random);
  SCUTE_OKAY(scute_drain(f));
  const pool::geometry g = f.in().s.geo;
  const bytes sound = f.file();
  for (uint64_t row = 0; row < g.rows + g.parity; ++row) {
    bytes image = sound;
    noise(image, g.zones_offset + row * g.row_size, g.row_size, random);
    SCOPED_TRACE("row " + std::to_string(row));
    f.load(image);
    EXPECT_EQ(refused(), 0u);
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Redundancy, spec_crash,
                         testing::Values(log::redundancy::two_copies, log::redundancy::tracks),
                         [](const auto& p) {
                           return p.param == log::redundancy::tracks ? "Tracks" : "TwoCopies";
                         });

class spec_crash_mlp : public crash_story, public testing::Test {
 protected:
  spec_crash_mlp() : crash_story(log::redundancy::two_copies, SCUTE_PROTECT_MLP) {}
};

// SUSPAGE-3: where no checksum can tell, an event has to.
TEST_F(spec_crash_mlp, ALostPageIsRebuiltOrReported) {
  SCUTE_RANDOM(random);
  uint64_t all = 0;
  for (const uint64_t page : some_pages(random)) {
    for (const bool killed : {true, false}) {
      SCOPED_TRACE("page " + std::to_string(page) + (killed ? ", killed" : ", power failure"));
      f.load(with_lost_page(killed ? after : torn(random), page));
      std::set<scute_oid> reported;
      for (const scute_event& e : f.events())
        if (e.kind == SCUTE_EVENT_OBJECT && e.outcome == SCUTE_OUTCOME_LOST)
          for (const auto& [oid, content] : f.objects)
            if (f.offset_of(oid) + content.size() > e.offset &&
                f.offset_of(oid) < e.offset + e.length)
              reported.insert(oid);
      for (const auto& [oid, content] : f.objects)
        EXPECT_TRUE(reported.count(oid) == 1 || f.read(oid) == content)
            << "object at " << f.offset_of(oid) << " is wrong, and nothing says so";
      all += reported.size();
      if (HasFailure()) return;
    }
  }
  RecordProperty("reported", static_cast<int>(all));
}

// Nothing is exposed after two looks of the pool's own thread after the last transaction, whatever
// the transactions did. The looks come every 20 ms.
TEST(spec_exposure, EndsAfterTheSecondLook) {
  spec_image f;
  f.reopen();
  f.in().idle.stop();
  tx::engine& engine = *f.in().engine;
  for (uint64_t round = 0; round < 40; ++round) {
    for (uint64_t k = 0; k <= round % 5 * 40; ++k) f.change(1 + k % 3, 1000 + 100 * round + k);
    ASSERT_FALSE(f.live().empty());
    for (uint64_t k = 0; k < round % 3; ++k) {  // looks while transactions come in
      engine.background();
      f.change(1, 5000 + round + k);
    }
    engine.background();
    engine.background();
    EXPECT_TRUE(f.live().empty()) << round;
  }
}

// By the pool's own thread, though no transaction comes any more. (It looks every 20 ms, and two
// looks are enough: see above.)
TEST(spec_exposure, EndsByItself) {
  spec_image f;
  f.reopen();  // with its thread
  for (int round = 0; round < 5; ++round) {
    f.change(1, static_cast<uint64_t>(1000 + 100 * round));
    ASSERT_TRUE(becomes_true([&] { return f.live().empty(); }));
  }
  // SPEC-5: the file alone has everything.
  SCUTE_RANDOM(random);
  const pool::geometry g = f.in().s.geo;
  bytes image = f.file();
  noise(image, g.zones_offset + random.between(0, g.rows) * g.row_size, g.row_size, random);
  f.load(image);
  f.expect_objects();
}

}  // namespace
}  // namespace scute::test
