// SPDX-License-Identifier: BSD-3-Clause
// The list of segments (core/engine/speculative/log_file/segment_list.hpp) with one of its two
// places damaged, in all copies: no commit may depend on one place alone (LIST-3). The chunks that
// an older list named may have become room for objects meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "scrub/spec_image.hpp"

namespace scute::test {
using namespace core;
namespace {

class spec_list : public testing::TestWithParam<log::redundancy> {
 protected:
  spec_list()
      : f(GetParam(), SCUTE_PROTECT_MLPC, 1, is_in_tracks() ? 6 * mib : 0),
        size(is_in_tracks() ? 2 * mib : 300 * kib) {
    large = f.alloc(pattern(5, size));
    f.objects[large] = pattern(5, size);
    SCUTE_OKAY_E(scute_drain(f));
    kept = f.list().chunks;
  }
  static bool is_in_tracks() { return GetParam() == log::redundancy::tracks; }
  // Of all of the large object, which takes more log than there is.
  void overwrite(uint64_t key) {
    f.objects[large] = pattern(key, size);
    f.overwrite(large, f.objects[large]);
  }
  void grow() {
    overwrite(6);
    added = f.list().chunks;
    std::erase_if(added, [&](uint64_t c) { return std::ranges::find(kept, c) != kept.end(); });
    ASSERT_FALSE(added.empty());
  }
  // Lent chunks go back, and objects come there.
  void shrink_and_fill() {
    for (uint64_t k = 0; k < 3; ++k) {
      SCUTE_OKAY(scute_drain(f));
      f.change(30, 100 * k);
    }
    ASSERT_EQ(f.list().chunks, kept);
    f.fill();
    full = true;
    expect_objects_in(added);
  }
  // None of it is the log's.
  void expect_objects_in(const std::vector<uint64_t>& chunks) {
    const std::vector<uint64_t> now = f.list().chunks;
    for (const uint64_t c : chunks) {
      EXPECT_EQ(std::ranges::find(now, c), now.end());
      EXPECT_TRUE(std::ranges::any_of(f.objects, [&](const auto& o) {
        const uint64_t at = f.offset_of(o.first);
        return at < c + f.in().s.geo.chunk_size && c < at + o.second.size();
      })) << c;
    }
  }
  // File offsets of a place of the list, in all copies.
  std::vector<uint64_t> copies_of(uint64_t place) const {
    const pool::geometry& g = f.in().s.geo;
    const uint64_t half =
        (format::lane_undo_offset(g.lane_size) - format::lane_log_offset) / 2 / 64 * 64;
    std::vector<uint64_t> all;
    for (uint32_t r = 0; r < g.lane_replicas; ++r)
      all.push_back(g.lane_offset(0, r) + format::lane_log_offset + place * half);
    return all;
  }
  // The file, as it is now, with the place damaged; objects as they are now.
  bytes damaged(uint64_t place, const std::vector<uint64_t> (&places)[2]) const {
    bytes image = f.file();
    for (const uint64_t at : places[place]) {
      const bytes fresh = pattern(at, 256);
      std::copy(fresh.begin(), fresh.end(), image.begin() + static_cast<long>(at));
    }
    return image;
  }
  // A session on such a file, killed, and another one: all that was committed is there.
  void expect_all_after(const bytes& image) {
    f.load(image);
    f.expect_sound_objects();
    // More than the log holds, so that all of its segments come to be used; then what it has too
    // many of goes back.
    for (uint64_t k = 0; k < 3; ++k) {
      if (!full) overwrite(50 + k);
      SCUTE_OKAY(scute_drain(f));
      f.change(30, 51'000 + 100 * k);
    }
    f.change(1, 60'000);
    f.load(f.file());
    f.expect_sound_objects();
    SCUTE_OKAY(scute_drain(f));
    f.reopen();
    f.rest();
    f.expect_sound_objects();
    EXPECT_EQ(f.info().lost, 0U);
  }
  // Of a pool that was closed properly, and then each place is damaged in a copy of its own.
  void expect_all_after_each_place() {
    const std::vector<uint64_t> places[2] = {copies_of(0), copies_of(1)};
    f.close();
    const bytes closed = f.file();
    const std::map<scute_oid, bytes> objects = f.objects;
    for (const uint64_t place : {0, 1}) {
      SCOPED_TRACE("place " + std::to_string(place));
      f.objects = objects;
      write_file(f.path, closed);
      expect_all_after(damaged(place, places));
      f.close();
    }
  }

  spec_image f;
  const uint64_t size;
  scute_oid large = 0;
  bool full = false;  // no room for a longer log
  std::vector<uint64_t> kept, added;
};

// An older list names chunks that objects have by now.
TEST_P(spec_list, OnePlaceIsNoiseAfterAClosing) {
  grow();
  shrink_and_fill();
  expect_all_after_each_place();
}

TEST_P(spec_list, OnePlaceIsNoiseAfterAClosingWithALongerLog) {
  grow();
  expect_all_after_each_place();
}

// Everything that the longer list names counts in such a log.
TEST_P(spec_list, OnePlaceIsNoiseAfterAKill) {
  grow();
  const std::vector<uint64_t> places[2] = {copies_of(0), copies_of(1)};
  f.change(1, 70'000);
  const bytes killed = f.file();
  const std::map<scute_oid, bytes> objects = f.objects;
  for (const uint64_t place : {0, 1}) {
    SCOPED_TRACE("place " + std::to_string(place));
    f.objects = objects;
    f.load(killed);
    expect_all_after(damaged(place, places));
  }
}

// LOGSCRUB-4: of a pool that was closed properly.
TEST_P(spec_list, RepairsAreReported) {
  grow();
  const std::vector<uint64_t> places[2] = {copies_of(0), copies_of(1)};
  f.close();
  for (const uint64_t place : {0, 1}) {
    const bytes image = damaged(place, places);
    f.load(image);
    const uint64_t reported = f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED);
    EXPECT_EQ(f.info().repaired, places[place].size());
    EXPECT_EQ(reported,
              (place + 1) * places[place].size());  // those of sessions before are remembered
    f.close();
    for (const uint64_t at : places[place])
      EXPECT_NE(std::memcmp(&image[at], &f.file()[at], 64), 0);
    f.open();
    f.rest();
    EXPECT_EQ(f.info().repaired, 0U);
    EXPECT_EQ(f.count(SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED), reported);
    f.expect_sound_objects();
    f.close();
  }
  f.open();
}

INSTANTIATE_TEST_SUITE_P(, spec_list,
                         testing::Values(log::redundancy::two_copies, log::redundancy::tracks),
                         [](const auto& p) {
                           return p.param == log::redundancy::tracks ? "tracks" : "two_copies";
                         });

}  // namespace
}  // namespace scute::test
