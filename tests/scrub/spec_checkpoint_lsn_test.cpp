// SPDX-License-Identifier: BSD-3-Clause
// Sequences over a clean closing (SPEC-3): frames that are void stay in the log, and what a session
// draws has to be above all of them, also where the truncation point was damaged meanwhile
// (TRUNC-1), or the log file is a copy of another moment (TRUNC-2).
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "scrub/spec_image.hpp"

namespace scute::test {
using namespace core;
namespace {

// ---- the log in the pool ------------------------------------------------------------------------

class spec_checkpoint_lsn : public testing::TestWithParam<log::redundancy> {
 protected:
  spec_checkpoint_lsn() : f(GetParam()) {
    for (uint64_t round = 0; round < 3; ++round) f.change(1, 1000 * round);
    const pool::state& s = f.in().s;
    SCUTE_OKAY_E(scute_drain(f));
    const uint64_t checkpointed[2] = {
        f.in().engine->log().truncation_point,
        engine::check_of_truncation_point(s, f.in().engine->log().truncation_point)};
    std::memcpy(earlier.data(), checkpointed, sizeof checkpointed);
    f.change(1, 3000);
    for (uint32_t r = 0; r < s.geo.lane_replicas; ++r)
      truncation_points.push_back(s.geo.lane_offset(0, r) +
                                  offsetof(format::lane_status, truncation_point));
    f.close();
    closed = read_file(f.path);
    objects = f.objects;
  }
  // Changes the words of the truncation point, two places in each copy, in the file of the
  // closed pool. Later commits have to survive a kill.
  void expect_all_after(const std::function<void(unsigned char* words, size_t copy)>& harm) {
    bytes image = closed;
    for (size_t copy = 0; copy < truncation_points.size(); ++copy)
      harm(&image[truncation_points[copy]], copy);
    f.objects = objects;
    f.load(image);
    f.change(1, 50'000);
    f.change(3, 60'000);
    f.load(f.file());
    f.expect_sound_objects();
  }

  spec_image f;
  std::vector<uint64_t> truncation_points;  // of each copy
  std::map<scute_oid, bytes> objects;
  std::array<unsigned char, 16> earlier{};
  bytes closed;
};

constexpr size_t words_size = 4 * sizeof(uint64_t);

TEST_P(spec_checkpoint_lsn, TheTruncationPointIsNoise) {
  expect_all_after([](unsigned char* words, size_t copy) {
    const bytes fresh = pattern(7 + copy, words_size);
    std::copy(fresh.begin(), fresh.end(), words);
  });
}

TEST_P(spec_checkpoint_lsn, TheTruncationPointIsGone) {
  expect_all_after([](unsigned char* words, size_t) { std::fill_n(words, words_size, 0); });
}

TEST_P(spec_checkpoint_lsn, OnePlaceIsNoise) {
  for (const size_t place : {0, 1})
    expect_all_after([&](unsigned char* words, size_t) { words[16 * place + 8] ^= 1; });
}

// Nothing but that of an earlier checkpoint is left.
TEST_P(spec_checkpoint_lsn, OnePlaceIsOldAndTheOtherNoise) {
  for (const size_t place : {0, 1})
    expect_all_after([&](unsigned char* words, size_t) {
      std::memcpy(words + 16 * place, earlier.data(), 16);
      words[16 * (1 - place)] ^= 1;
    });
}

TEST_P(spec_checkpoint_lsn, OnePlaceIsOldAndTheOtherGone) {
  for (const size_t place : {0, 1})
    expect_all_after([&](unsigned char* words, size_t) {
      std::memcpy(words + 16 * place, earlier.data(), 16);
      std::fill_n(words + 16 * (1 - place), 16, 0);
    });
}

TEST_P(spec_checkpoint_lsn, RepairsAreReported) {
  bytes image = closed;
  for (const uint64_t at : truncation_points) std::fill_n(&image[at], words_size, 0x5a);
  f.load(image);
  EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), 1U);
  f.reopen();
  f.rest();
  EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), 1U);
  f.expect_sound_objects();
}

// TRUNC-3: one with a check that is right is noise, a frame is refused.
TEST_P(spec_checkpoint_lsn, SequencesThatWouldWrapDoNotCount) {
  SCUTE_OKAY(f.try_open());
  const uint64_t words[2] = {UINT64_MAX, engine::check_of_truncation_point(f.in().s, UINT64_MAX)};
  f.close();
  expect_all_after([&](unsigned char* to, size_t) {
    std::memcpy(to, words, sizeof words);
    std::memcpy(to + 16, words, sizeof words);
  });
}

TEST_P(spec_checkpoint_lsn, AFrameWithSuchASequenceIsRefused) {
  SCUTE_OKAY(f.try_open());
  f.rest();
  f.change(30);
  const auto frame = f.frames().front();
  const uint64_t at = f.lines_of(frame, false).front();
  log::segment_reader reader(f.list().layout(), f.in().s.salt,
                             [&](uint64_t offset, std::byte* to, size_t n) {
                               return f.in().s.medium->read(offset, to, n);
                             });
  const auto head = reader.read_head(frame.where);
  ASSERT_TRUE(head);
  bytes image = f.file();
  format::frame_head h;
  std::memcpy(&h, &image[at], sizeof h);
  ASSERT_EQ(h.sequence, frame.sequence);
  h.sequence = UINT64_MAX - 1;
  h.checksum = log::frame_head_checksum(log::seed_of(*head), frame.position, h);
  std::memcpy(&image[at], &h, sizeof h);
  f.in().abandon();
  f.close();
  write_file(f.path, image);
  // Nothing of the log was changed, so it is refused again.
  for (int i = 0; i < 2; ++i) SCUTE_FAILS(SCUTE_E_CORRUPT, f.try_open());
}

INSTANTIATE_TEST_SUITE_P(, spec_checkpoint_lsn,
                         testing::Values(log::redundancy::two_copies, log::redundancy::tracks),
                         [](const auto& p) {
                           return p.param == log::redundancy::tracks ? "tracks" : "two_copies";
                         });

// ---- the log in a file --------------------------------------------------------------------------

class spec_checkpoint_lsn_file : public testing::Test {
 protected:
  spec_checkpoint_lsn_file() : f(scratch::disk), log(f.path + ".log") {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
    o.medium = SCUTE_MEDIUM_FILE;
    o.lanes = 2;
    f.create(o);
    for (uint64_t i = 0; i < 20; ++i) oids.push_back(f.alloc(pattern(i, 400)));
    for (uint64_t round = 1; round < 5; ++round) change(100 * round);
    in_use = read_file(log);
    change(1000);
    f.close();
    closed = read_file(log);
  }
  void change(uint64_t key) {
    last = key;
    for (size_t i = 0; i < oids.size(); ++i) f.overwrite(oids[i], pattern(key + i, 400));
  }
  void expect_all_after(const bytes& image) {
    write_file(log, image);
    SCUTE_OKAY(f.try_open());
    f.in().idle.stop();
    change(5000);
    f.in().abandon();
    f.close();
    SCUTE_OKAY(f.try_open());
    for (size_t i = 0; i < oids.size(); ++i)
      EXPECT_TRUE(f.read(oids[i]) == pattern(last + i, 400)) << i;
    f.expect_sound();
  }

  pool_file f;
  const std::string log;
  std::vector<scute_oid> oids;
  uint64_t last = 0;
  bytes in_use, closed;
};

// A copy of the log from the middle of the session, next to the pool of its end.
TEST_F(spec_checkpoint_lsn_file, TheLogIsOfAnEarlierMoment) {
  expect_all_after(in_use);
}

TEST_F(spec_checkpoint_lsn_file, TheTruncationPointIsNoise) {
  bytes image = closed;
  for (const uint64_t at : {8192U, 12288U}) {
    const bytes fresh = pattern(at, 80);
    std::copy(fresh.begin(), fresh.end(), image.begin() + static_cast<long>(at));
  }
  expect_all_after(image);
}

}  // namespace
}  // namespace scute::test
