// SPDX-License-Identifier: BSD-3-Clause
// Status words that damage has made and that pass their check, which has 16 bits (LOG-5, LOG-6).
#include <gtest/gtest.h>

#include "core/engine/common/lane_log.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

using core::log::status_word;

class status_words : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib, GetParam());
    o.lanes = 1;
    f.create(o);
    g = f.in().s.geo;
    ring = format::lane_undo_offset(g.lane_size) - format::lane_log_offset;
  }
  bool has_two() const { return g.lane_replicas == 2; }
  uint64_t word(status_word which, uint64_t value) const {
    return core::log::make_status_word(core::engine::identity_of(f.in().s, 0), which, value);
  }
  static uint64_t place_of(status_word which) {
    return which == status_word::applied ? offsetof(format::lane_status, applied)
                                         : offsetof(format::lane_status, undone);
  }
  void put(bytes& image, uint32_t replica, status_word which, uint64_t w) const {
    std::memcpy(image.data() + g.lane_offset(0, replica) + place_of(which), &w, sizeof w);
  }
  // Two objects of n bytes that meet in a column: what is written to both in one transaction is
  // logged, whichever engine it is.
  std::array<scute_oid, 2> pair(uint64_t n) {
    std::array<scute_oid, 2> two{f.alloc(pattern(1, n)), 0};
    const auto meets = [&](scute_oid oid) {
      const auto a = pool::cell_of(g, f.offset_of(two[0])), b = pool::cell_of(g, f.offset_of(oid));
      return a.row != b.row && a.column < b.column + n && b.column < a.column + n;
    };
    do two[1] = f.alloc(pattern(1, n));
    while (two[1] != 0 && GetParam().engine == SCUTE_ENGINE_LOGFREE && !meets(two[1]));
    return two;
  }
  void write(const std::array<scute_oid, 2>& two, uint64_t key, uint64_t n) {
    transaction tx(f);
    for (const scute_oid oid : two) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, oid, 0, n, &p));
      std::memcpy(p, pattern(key, n).data(), n);
    }
    SCUTE_OKAY(tx.commit());
  }
  // The pool as a crash leaves it: what is in the lane is of `after`, all else of `before`.
  bytes crash(const bytes& before, const bytes& after) const {
    bytes image = before;
    for (uint32_t r = 0; r < g.lane_replicas; ++r)
      std::copy_n(after.begin() + static_cast<long>(g.lane_offset(0, r)), g.lane_size,
                  image.begin() + static_cast<long>(g.lane_offset(0, r)));
    return image;
  }
  void copy_status(bytes& image, const bytes& from) const {
    for (uint32_t r = 0; r < g.lane_replicas; ++r)
      std::copy_n(from.begin() + static_cast<long>(g.lane_offset(0, r)), 64,
                  image.begin() + static_cast<long>(g.lane_offset(0, r)));
  }
  void load(const bytes& image) {
    scute_close(f.pool);
    f.pool = nullptr;
    write_file(f.path, image);
    f.open();
  }
  bool begins_with(scute_oid oid, const bytes& want) {
    bytes got = f.read(oid);
    got.resize(want.size());
    return got == want;
  }

  pool_file f;
  pool::geometry g;
  uint64_t ring = 0;
};

TEST_P(status_words, AppliedBeyondTheEntriesCountsForNothing) {
  const auto two = pair(700);
  const bytes before = read_file(f.path);
  write(two, 5, 700);
  bytes image = crash(before, read_file(f.path));
  copy_status(image, before);
  for (const uint64_t beyond : {uint64_t{1} << 30, uint64_t{1} << 47})
    for (uint32_t r = 0; r < g.lane_replicas; ++r) {
      bytes damaged = image;
      put(damaged, r, status_word::applied, word(status_word::applied, beyond));
      load(damaged);
      EXPECT_EQ(f.info().recovered, 1u);
      for (const scute_oid oid : two) EXPECT_TRUE(begins_with(oid, pattern(5, 700)));
      f.expect_sound();
    }
}

TEST_P(status_words, UndoneBeyondTheEntriesCountsForNothing) {
  const auto two = pair(700);
  bytes image;
  uint64_t of = 0;
  {
    transaction tx(f);
    for (const scute_oid oid : two) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, oid, 100, 60, &p));
      std::memset(p, 0x33, 60);
    }
    image = read_file(f.path);
    of = f.in().s.lanes[0].transaction;
  }
  for (const uint64_t beyond : {of + 1, uint64_t{1} << 40})
    for (uint32_t r = 0; r < g.lane_replicas; ++r) {
      bytes damaged = image;
      put(damaged, r, status_word::undone, word(status_word::undone, beyond));
      load(damaged);
      for (const scute_oid oid : two) EXPECT_TRUE(begins_with(oid, pattern(1, 700)));
      f.expect_sound();
    }
}

// An entry that lies where its predecessor was is torn. The entry that `applied` names is gone.
// An entry from long before is still present, unless the writer has removed it.
TEST_P(status_words, NoEntryFromLongBeforeIsLeftWhereTheLastOneIsOverwritten) {
  // Two records an entry, with headers of theirs.
  const auto half = [&](uint64_t of_ring) { return (ring * of_ring / 100 / 2) & ~uint64_t{63}; };
  const auto two = pair(half(60));
  write(two, 2, half(60));
  write(two, 3, 64);  // after it
  f.in().s.lanes[0].sequence += uint64_t{1} << 26;
  write(two, 4, half(54));  // over the first
  const bytes before = read_file(f.path);
  write(two, 5, half(50));  // does not fit after it
  bytes image = crash(before, read_file(f.path));
  copy_status(image, before);
  uint64_t left = 0;
  for (uint32_t r = 0; r < g.lane_replicas; ++r) {
    std::byte* lane = reinterpret_cast<std::byte*>(image.data()) + g.lane_offset(0, r);
    std::memset(lane + format::lane_log_offset, 0, 64);  // the torn one
    for (uint64_t at = format::lane_log_offset; at < format::lane_undo_offset(g.lane_size);
         at += 64) {
      format::log_entry e;
      std::memcpy(&e, lane + at, sizeof e);
      if (e.magic == format::entry_magic) ++left;
    }
  }
  EXPECT_EQ(left, 0u);
  // The other replica's word suffices.
  for (uint32_t r = 0; r < (has_two() ? 2 : 1); ++r) {
    bytes damaged = image;
    if (has_two()) put(damaged, r, status_word::applied, 0x1234567);
    load(damaged);
    EXPECT_EQ(f.info().recovered, 0u);
    for (const scute_oid oid : two) EXPECT_TRUE(begins_with(oid, pattern(4, half(54))));
    f.expect_sound();
  }
}

TEST_P(status_words, ScrubBelievesNoWordBeyondWhatHasBeen) {
  if (!has_two()) return;  // nothing to repair it from
  const auto two = pair(700);
  write(two, 5, 700);
  for (const auto which : {status_word::applied, status_word::undone})
    for (uint32_t r = 0; r < 2; ++r) {
      uint64_t was = 0;
      std::memcpy(&was, f.raw(g.lane_offset(0, 1 - r) + place_of(which)), sizeof was);
      const uint64_t wrong = word(which, uint64_t{1} << 40);
      std::memcpy(f.raw(g.lane_offset(0, r) + place_of(which)), &wrong, sizeof wrong);
      scute_report report{};
      report.struct_size = sizeof report;
      SCUTE_OKAY(scute_scrub(f, nullptr, &report));
      EXPECT_EQ(report.repaired, 1u);
      for (uint32_t k = 0; k < 2; ++k) {
        uint64_t now = 0;
        std::memcpy(&now, f.raw(g.lane_offset(0, k) + place_of(which)), sizeof now);
        EXPECT_EQ(now, was) << "replica " << k;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Protection, status_words,
                         testing::Values(pool_kind(SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)),
                         protection_name);

}  // namespace
}  // namespace scute::test
