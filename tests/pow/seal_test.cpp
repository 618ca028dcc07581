// SPDX-License-Identifier: BSD-3-Clause
// Protection `sealed`: groups of segments and what they give back.
#include "seal_fixture.hpp"

namespace scute::core::pow {
namespace {

TEST_F(Seals, EightSegmentsAreAGroup) {
  fill(0, 60);
  EXPECT_EQ(count(use::seal), 0U);
  fill(60, 90);
  EXPECT_EQ(count(use::seal), 1U);
  EXPECT_EQ(sealed(), 8U);
  fill(90, 180);
  EXPECT_EQ(count(use::seal), 2U);
  EXPECT_TRUE(db->check(false, true).damage.empty());
  // Whoever dies leaves what is sealed so; whoever closes the rest as well.
  reopen();
  EXPECT_EQ(count(use::seal), 2U);
  EXPECT_EQ(sealed(), 16U);
  db->close();
  reopen();
  EXPECT_EQ(count(use::seal), 3U);
  EXPECT_EQ(sealed(), count(use::full));
  EXPECT_EQ(c->texts.size(), 180U);
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

TEST_F(Seals, AClosedFileCanLoseAnyPage) {
  fill(0, 150);
  db->close();
  expect_all_of();
}

TEST_F(Seals, AFileThatWasCleanedAndCompactedCanLoseAnyPage) {
  for (int round = 0; round < 6; ++round) fill(0, 60);
  for (uint64_t i = 0; i < 60; i += 3) {
    section s(db->parts(), durability::later);
    c->erase(s, i);
    s.commit();
  }
  EXPECT_GT(db->clean(100), 0U);
  fill(100, 130);
  db->compact({});
  EXPECT_EQ(sealed(), count(use::full));
  EXPECT_TRUE(db->check(false, true).damage.empty());
  db->close();
  expect_all_of();
}

// One page of each member, at different places; and two at one place, which is too much.
TEST_F(Seals, SeveralMembersAreRebuilt) {
  fill(0, 100);
  db->close();
  const auto all = c->texts;
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < db->parts().space->count(); ++i)
    if (db->parts().space->note(i).seal.load() != nowhere &&
        (members.empty() ||
         db->parts().space->note(i).seal.load() == db->parts().space->note(members[0]).seal.load()))
      members.push_back(i);
  ASSERT_EQ(members.size(), 8U);
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  db.reset();
  for (uint64_t p = 0; p < 3; ++p)
    std::fill_n(page(members[2 * p], p), head_page, static_cast<std::byte>(0x11 + p));
  reopen();
  EXPECT_EQ(c->texts, all);
  EXPECT_EQ(db->recovered().lost, 0U);
  EXPECT_EQ(db->recovered().repaired, 3U);
  EXPECT_TRUE(db->check(false, true).damage.empty());
  db.reset();
  std::ranges::copy(sound, bytes.begin());
  for (const uint64_t k : {1, 5}) std::fill_n(page(members[k], 1), head_page, std::byte{3});
  EXPECT_THROW(reopen(), failure);
  reopen(true);
  EXPECT_GT(db->recovered().lost, 0U);
  EXPECT_GT(c->texts.size(), 80U);
  for (const auto& [i, text] : c->texts) EXPECT_EQ(text, all.at(i));
  EXPECT_TRUE(db->check(false, true).damage.empty());
  // What was accepted is not found again.
  db->close();
  reopen();
  EXPECT_EQ(db->recovered().lost, 0U);
}

// While the file is open, too.
TEST_F(Seals, AnOpenFileIsRepairedByACheck) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  uint32_t member = 0, seal = 0;
  for (uint32_t i = 0; i < db->parts().space->count(); ++i) {
    if (db->parts().space->note(i).seal.load() != nowhere) member = i;
    if (db->parts().space->note(i).what.load() == use::seal) seal = i;
  }
  for (const uint32_t segment : {member, seal}) {
    std::fill_n(page(segment, 1), head_page, std::byte{9});
    EXPECT_EQ(db->check(false, true).damage.size(), 1U);
    db->check(true, true);
    for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << d.text;
    EXPECT_GE(sealed(), 8U);
  }
}

// A group whose members go loses none of what they had, damaged or not.
TEST_F(Seals, AGroupIsMendedBeforeItEnds) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  uint32_t member = 0;
  while (db->parts().space->note(member).seal.load() == nowhere) ++member;
  std::fill_n(page(member, 1), head_page, std::byte{9});
  for (int round = 0; round < 3; ++round) fill(60, 100);
  EXPECT_GT(db->clean(100), 0U);
  for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << d.text;
}

// POW-20: a table that comes back from the dead names members that say something else.
TEST_F(Seals, AStaleSealIsNone) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  uint32_t seal = 0;
  while (db->parts().space->note(seal).what.load() != use::seal) ++seal;
  const std::vector<std::byte> before(page(seal, 0), page(seal, 3));
  for (int round = 0; round < 3; ++round) fill(0, 100);
  EXPECT_GT(db->clean(100), 8U);
  db->close();
  const auto all = c->texts;
  uint32_t free = 0;
  while (db->parts().space->note(free).what.load() != use::free) ++free;
  db.reset();
  std::ranges::copy(before, page(free, 0));
  reopen();
  EXPECT_EQ(c->texts, all);
  EXPECT_EQ(db->recovered().lost, 0U);
  EXPECT_EQ(db->parts().space->note(free).what.load(), use::free);
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

// What it costs: the bytes of `none`, and one segment for eight.
TEST_F(Seals, WhatItCosts) {
  const auto lines = [&] {
    uint64_t n = 0;
    for (uint32_t i = 0; i < lanes_max; ++i)
      if (const lane* const l = db->parts().find_lane(i)) n += l->w.count.lines.get();
    return n;
  };
  put(0, 256, 'a');
  const uint64_t before = lines();
  for (uint64_t i = 0; i < 1000; ++i) put(i % 10, 256, 'b');
  // Five lines each; heads and ends; the XOR of what is full; and what each growth writes.
  const uint64_t segments = 1000 * 5 / (db->parts().layout.lines() - 1);
  const uint64_t growths = db->parts().count.growths.load();
  EXPECT_LE(lines() - before, 1000 * 5 + segments * 2 + (segments / 8) * (segment_bytes / 64) +
                                  growths * (head_copies * head_page / 64 + 8));
  EXPECT_GE(count(use::seal), 2U);
}

}  // namespace
}  // namespace scute::core::pow
