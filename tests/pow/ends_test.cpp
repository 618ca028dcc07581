// SPDX-License-Identifier: BSD-3-Clause
// POW-12, SEG-7: recovery reports a loss at the end of the data that was written to a segment.
#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

class Ends : public Store {
 protected:
  log::segment_layout layout() const { return db->parts().layout; }
  // Of each segment that is in use: calls fn(its number, its head, what it states).
  template <typename Fn>
  void for_each_used(Fn&& fn) {
    state& s = db->parts();
    log::segment_reader reader(s.layout, s.salt, [this](uint64_t at, std::byte* to, size_t n) {
      std::memcpy(to, bytes.data() + at, n);
      return true;
    });
    for (uint32_t i = 0; i < s.space->count(); ++i) {
      const auto in = reader.read(s.space->place(i), [](const log::frame&) {});
      if (in.head) fn(i, in);
    }
  }
  void fill(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) put(i, std::string(2000, static_cast<char>('a' + i % 26)));
  }
  uint64_t lost_in(const std::function<void()>& damage) {
    const std::vector<std::byte> sound(bytes.begin(), bytes.end());
    damage();
    EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT);
    reopen(true);
    const uint64_t lost = db->recovered().lost;
    // A loss that the caller has accepted is not found again.
    db->close();
    reopen();
    EXPECT_EQ(db->recovered().lost, 0U);
    db.reset();
    std::ranges::copy(sound, bytes.begin());
    return lost;
  }
  std::byte* line(uint32_t segment, uint64_t position) {
    return bytes.data() + first_segment + segment * segment_bytes + layout_of.offset_of(position);
  }
  static constexpr uint64_t segment_bytes = 72 * 1024;
  log::segment_layout layout_of{
      GetParam() == protection::always ? log::redundancy::tracks : log::redundancy::one_copy,
      segment_bytes, true};
};
INSTANTIATE_TEST_SUITE_P(, Ends, ::testing::Values(protection::none, protection::always),
                         [](const auto& p) {
                           return std::string(p.param == protection::none ? "None" : "Always");
                         });

class EndsOfOneCopy : public Ends {};
INSTANTIATE_TEST_SUITE_P(, EndsOfOneCopy, ::testing::Values(protection::none),
                         [](const auto&) { return std::string("None"); });

TEST_P(Ends, AreSaidWhenASegmentIsLeftAndAtTheClose) {
  make();
  fill(0, 40);
  uint32_t with = 0, without = 0;
  for_each_used([&](uint32_t, const log::segment_contents& in) { ++(in.stated ? with : without); });
  EXPECT_GE(with, 1U);
  EXPECT_EQ(without, 1U) << "the open one";
  db->close();
  with = without = 0;
  for_each_used([&](uint32_t i, const log::segment_contents& in) {
    ASSERT_TRUE(in.stated) << i;
    EXPECT_FALSE(in.stated_flawed);
    EXPECT_EQ(in.stated->end, in.end);
    EXPECT_EQ(in.stated->frames, in.frames);
    ++with;
  });
  EXPECT_GE(with, 2U);
  reopen();
  EXPECT_EQ(c->texts.size(), 40U);
  EXPECT_EQ(db->recovered().repaired, 0U);
}

// A process that dies reports nothing; the process that opens the file next reports it.
TEST_P(Ends, AreSaidByRecovery) {
  make();
  fill(0, 10);
  reopen();
  for_each_used([&](uint32_t i, const log::segment_contents& in) {
    ASSERT_TRUE(in.stated) << i;
    EXPECT_EQ(in.stated->end, in.end);
  });
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

// The last page that anything was written to becomes zeros: without an end it would be a segment
// that ends sooner.
TEST_P(EndsOfOneCopy, ZerosAfterTheLastFrameAreReported) {
  for (const bool closed : {true, false}) {
    make();
    fill(0, 20);
    if (closed) db->close();
    if (!closed) reopen();
    uint32_t segment = 0;
    uint64_t end = 0;
    for_each_used([&](uint32_t i, const log::segment_contents& in) {
      if (in.head->lane == 1 && in.end > end) {
        segment = i;
        end = in.end;
      }
    });
    db.reset();
    const uint64_t page = (line(segment, end - 1) - bytes.data()) / head_page * head_page;
    EXPECT_EQ(lost_in([&] { std::fill_n(bytes.data() + page, head_page, std::byte{0}); }), 1U);
  }
}

// The lost objects are reported by number and by table.
TEST_P(EndsOfOneCopy, WhatWasLostIsNamed) {
  make();
  put(1, std::string(200, 'x'));
  put(2, std::string(200, 'y'));
  db->close();
  const std::string two(200, 'y');
  const auto at = std::search(bytes.begin(), bytes.end(), two.begin(), two.end(),
                              [](std::byte b, char x) { return b == std::byte(x); });
  *at ^= std::byte{1};
  db.reset();
  try {
    reopen();
    FAIL();
  } catch (const failure& f) {
    const std::string reported = f.what();
    EXPECT_NE(reported.find("batch 3 of lane 1, session 1"), std::string::npos) << reported;
    EXPECT_NE(reported.find("objects 2 to 2 of table cells (1 record)"), std::string::npos)
        << reported;
  }
}

// If the page that says where the end is gets lost, that is reported.
TEST_P(EndsOfOneCopy, ALostEndIsReported) {
  make();
  fill(0, 10);
  db->close();
  db.reset();
  std::byte* const end = line(0, layout_of.lines());  // the first that is taken
  ASSERT_NE(*end, std::byte{0});
  EXPECT_EQ(lost_in([&] { std::fill_n(end, 64, std::byte{0}); }), 1U);
}

// A proper close leaves no head that was being written: whatever has become of a head, no loss
// is left unreported. (The test also tries the void words in a head that is not in use.)
TEST_P(EndsOfOneCopy, ADamagedHeadIsNoSegmentThatWasNeverUsed) {
  make();
  fill(0, 10);
  db->close();
  db.reset();
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  std::byte* const head = line(0, 0);
  for (size_t i = 0; i < 64; ++i)
    for (const int how : {0x01, 0x80, -1}) {
      std::ranges::copy(sound, bytes.begin());
      if (how > 0) head[i] ^= static_cast<std::byte>(how);
      if (how < 0) std::fill_n(head + i / 8 * 8, 8, std::byte{0});
      if (std::ranges::equal(sound, bytes)) continue;
      EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT) << i << " " << how;
    }
}
// After a crash words of both heads are what a crash leaves, and others are not.
TEST_P(EndsOfOneCopy, ADamagedHeadAfterACrash) {
  make();
  fill(0, 10);
  db.reset();
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  std::byte* const head = line(0, 0);
  for (size_t i = 0; i < 64; ++i) {
    std::ranges::copy(sound, bytes.begin());
    head[i] ^= std::byte{0x80};
    EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT) << i;
  }
}

// The end is recorded in two places: one of them is enough, and the other one is repaired.
TEST_P(Ends, OneOfTwoPlacesIsEnough) {
  if (GetParam() != protection::always) return;
  make();
  fill(0, 10);
  db->close();
  db.reset();
  std::fill_n(line(0, layout_of.lines()), 64, std::byte{0});
  reopen();
  EXPECT_EQ(c->texts.size(), 10U);
  for_each_used([&](uint32_t, const log::segment_contents& in) { EXPECT_FALSE(in.stated_flawed); });
}

}  // namespace
}  // namespace scute::core::pow
