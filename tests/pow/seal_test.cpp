// SPDX-License-Identifier: BSD-3-Clause
// Protection `sealed`: groups of segments and what they give back.
#include <array>
#include <bit>
#include <set>

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
  // A process that dies leaves the sealed segments sealed, and so does one that closes the file.
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
  // A loss that the caller has accepted is not found again.
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
TEST_F(Seals, AGroupIsRepairedBeforeItEnds) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  uint32_t member = 0;
  while (db->parts().space->note(member).seal.load() == nowhere) ++member;
  std::fill_n(page(member, 1), head_page, std::byte{9});
  for (int round = 0; round < 3; ++round) fill(60, 100);
  EXPECT_GT(db->clean(100), 0U);
  for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << d.text;
}

// Two members are damaged at one place, which is too much, and one of them at another one as well:
// that comes back.
TEST_F(Seals, WhatAGroupHasOfAMemberComesBackBeforeItEnds) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < db->parts().space->count(); ++i)
    if (db->parts().space->note(i).seal.load() != nowhere) members.push_back(i);
  ASSERT_GE(members.size(), 3U);
  const std::vector<std::byte> sound(page(members[0], 2), page(members[0], 2) + head_page / 2);
  for (const uint32_t i : {members[0], members[1]})
    std::fill_n(page(i, 1), head_page, std::byte{9});
  std::fill_n(page(members[0], 2), head_page, std::byte{7});
  for (int round = 0; round < 3; ++round) fill(20, 100);
  EXPECT_GT(db->clean(100), 0U);
  EXPECT_TRUE(std::ranges::equal(sound, std::span(page(members[0], 2), sound.size())));
}

// A seal that lies after all members of its group moves further down before any member does.
TEST_F(Seals, CompactingRepairsAGroupBeforeItEnds) {
  unsigned tried = 0;
  for (uint64_t n = 9; n < 26; ++n) {
    make();
    // Each one fills a segment, of which nothing is to be gained.
    for (uint64_t i = 0; i < n; ++i)
      put(i, db->parts().layout.frame_max() - 300, static_cast<char>('a' + i));
    uint32_t seal = nowhere;
    std::vector<uint32_t> members;
    for (uint32_t s = 0; s < db->parts().space->count() && seal == nowhere; ++s) {
      if (db->parts().space->note(s).what.load() != use::seal) continue;
      members.clear();
      for (uint32_t i = 0; i < db->parts().space->count(); ++i)
        if (db->parts().space->note(i).seal.load() == s) members.push_back(i);
      if (!members.empty() && members.back() < s) seal = s;
    }
    if (seal == nowhere) continue;
    const std::set<uint32_t> stays(members.begin(), members.end());
    for (uint64_t i = 0; i < n; ++i) {
      if (stays.count(c->t->find(i)->segment) != 0) continue;
      section s(db->parts(), durability::strict);
      c->erase(s, i);
      s.commit();
    }
    ++tried;
    std::fill_n(page(members[n % members.size()], 1), head_page, std::byte{9});
    const auto all = c->texts;
    db->compact({});
    for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << n << ": " << d.text;
    db->close();
    ASSERT_NO_THROW(reopen()) << n;
    EXPECT_EQ(c->texts, all) << n;
  }
  EXPECT_GE(tried, 1u);
}

// POW-18. A shortened segment does not become a member of a group.
TEST_F(Seals, AShortenedSegmentGetsNoGroup) {
  fill(0, 60);
  ASSERT_EQ(sealed(), 0U);
  const uint32_t damaged = first_of(use::full);
  std::fill_n(page(damaged, 2), head_page, std::byte{9});
  fill(60, 130);
  EXPECT_GE(sealed(), 7U);
  EXPECT_EQ(db->parts().space->note(damaged).seal.load(), nowhere);
  db->close();
  EXPECT_THROW(reopen(), failure);
}

// POW-12. The last that a segment has is that something was erased. A check that repairs says that
// it is lost, and does not make the file forget it.
TEST_F(Seals, ACheckDoesNotWriteAnEndThatDamageHasMade) {
  make(protection::none);
  put(500, 700, 'x');
  fill(0, 40);
  const std::vector<std::byte> before(bytes.begin(), bytes.end());
  {
    section s(db->parts(), durability::strict);
    c->erase(s, 500);
    s.commit();
  }
  uint64_t at = first_segment;
  while (bytes[at] == before[at]) ++at;
  at = at / 64 * 64;
  db->parts().end_idle_segments(state::idle::any);
  const uint64_t end = first_segment + ((at - first_segment) / segment_bytes + 1) * segment_bytes;
  std::fill(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(end),
            std::byte{0x5a});
  bool lost = false;
  for (const auto& d : db->check(true, true).damage) lost = lost || d.lost;
  EXPECT_TRUE(lost);
  db->close();
  EXPECT_THROW(reopen(), failure);
  reopen(true);
  EXPECT_GT(db->recovered().lost, 0U);
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

// The store restores a page from its group, and leaves the sound records in that page as they
// are.
TEST_F(Seals, RepairingAPageKeepsItsValidBytes) {
  const std::array<size_t, 5> sizes{2950, 1450, 350, 2450, 2450};
  for (uint64_t i = 0; i < 50; ++i) put(i, sizes[i % 5], static_cast<char>('a' + i % 26));
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < db->parts().space->count(); ++i)
    if (db->parts().space->note(i).seal.load() != nowhere) members.push_back(i);
  ASSERT_EQ(members.size(), 8U);
  const auto where = [&](uint64_t object) {
    const std::string all(reinterpret_cast<char*>(page(members[0], 0)), segment_bytes);
    return all.find(c->texts[object]);
  };
  std::vector<uint64_t> in;
  for (uint64_t i = 0; i < 50; ++i)
    if (c->t->find(i)->segment == members[0]) in.push_back(i);
  const uint64_t sound = in.at(2), damaged = in.at(4), place = where(sound);
  ASSERT_TRUE(place > head_page && place + sizes[2] < 2 * head_page);
  ASSERT_TRUE(where(damaged) < 2 * head_page && where(damaged) + sizes[4] > 2 * head_page + 20);
  std::fill_n(page(members[0], 0) + 2 * head_page - 12, 24, std::byte{9});
  std::fill_n(page(members[1], 0) + place + 10, 5, std::byte{7});
  db->parts().groups->repair(db->parts().lane_at(cleaner_lane).w,
                             db->parts().space->note(members[0]).seal.load());
  EXPECT_EQ(where(sound), place);
  EXPECT_NE(where(damaged), std::string::npos);
  const auto all = c->texts;
  db->close();
  reopen();
  EXPECT_EQ(c->texts, all);
}

// A check that writes a segment's end again, and gives its group's seal up, makes the group
// again.
TEST_F(Seals, WhereTheEndAndTheSealAreDamaged) {
  fill(0, 100);
  const uint32_t member = first_member(), seal = first_of(use::seal);
  page(member, 0)[db->parts().layout.offset_of(db->parts().layout.lines()) + 20] ^= std::byte{4};
  for (const uint64_t p : {0, 2}) std::fill_n(page(seal, p), head_page, std::byte{9});
  EXPECT_EQ(db->check(true, true).damage.size(), 2U);
  EXPECT_EQ(sealed(), count(use::full));
  EXPECT_NE(db->parts().space->note(member).seal.load(), nowhere);
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

// POW-22. Each page of a closed file is lost, the file opened, perhaps compacted or cleaned, and
// closed, and then another one is lost.
TEST_F(Seals, OnePageAfterTheOther) {
  fill(0, 70);
  db->close();
  const auto all = c->texts;
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  const uint64_t pages = db->parts().space->count() * segment_bytes / head_page;
  for (uint64_t p = 0; p < pages; ++p) {
    db.reset();
    std::ranges::copy(sound, bytes.begin());
    std::fill_n(page(0, p), head_page, std::byte{0x5a});
    reopen();
    ASSERT_EQ(db->recovered().lost, 0U);
    if (p % 3 == 1) db->compact({});
    if (p % 3 == 2) {
      const std::string& text = all.at(p % 70);
      put(p % 70, 10, 'x');
      db->clean(100);
      put(p % 70, text.size(), text[0]);
    }
    db->close();
    const std::vector<std::byte> after(bytes.begin(), bytes.end());
    for (uint64_t q = 0; q < pages; ++q) {
      db.reset();
      std::ranges::copy(after, bytes.begin());
      std::fill_n(page(0, q), head_page, std::byte{0xa5});
      try {
        reopen();
      } catch (const failure& f) {
        FAIL() << "page " << p << " and then page " << q << ": " << f.what();
      }
      ASSERT_EQ(c->texts, all) << p << " " << q;
      ASSERT_TRUE(db->check(false, true).damage.empty()) << p << " " << q;
    }
  }
}

TEST_F(Seals, AProperCloseComparesTheGroups) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  const uint32_t member = first_member(), seal = first_of(use::seal);
  const auto all = c->texts;
  // The XOR; a member; both tables, without which its members get another group.
  for (const auto& damaged : std::vector<std::vector<std::pair<uint32_t, uint64_t>>>{
           {{seal, 1}}, {{member, 1}}, {{seal, 0}, {seal, 2}}}) {
    for (const auto& [segment, p] : damaged) std::fill_n(page(segment, p), head_page, std::byte{9});
    db->close();
    for (uint64_t p = 0; p < 3; ++p) {
      const std::vector<std::byte> before(bytes.begin(), bytes.end());
      std::fill_n(page(member, p), head_page, std::byte{7});
      ASSERT_NO_THROW(reopen()) << p;
      EXPECT_EQ(c->texts, all);
      db.reset();
      std::ranges::copy(before, bytes.begin());
    }
    reopen();
    ASSERT_NE(db->parts().space->note(member).seal.load(), nowhere);
  }
}

// Besides the member, only the seal's pages record where the member ends; the record is needed
// when the group has ended.
TEST_F(Seals, WhereAMemberEndsIsWrittenAgain) {
  fill(0, 100);
  ASSERT_EQ(count(use::seal), 1U);
  const uint32_t member = first_member();
  const auto end = [&] {
    return page(member, 0) + db->parts().layout.offset_of(db->parts().layout.lines());
  };
  db->close();
  const std::vector<std::byte> sound(end(), end() + 64);
  db.reset();
  std::byte* const at = page(member, 2) + head_page - sizeof(seal_table) * 2;
  ASSERT_TRUE(std::equal(sound.begin(), sound.end(), at));
  std::fill_n(at, 64, std::byte{0x33});
  reopen();
  EXPECT_EQ(db->recovered().lost, 0U);
  EXPECT_EQ(db->recovered().repaired, 1U);
  EXPECT_TRUE(std::equal(sound.begin(), sound.end(), at));
  // At a close as well.
  std::fill_n(at, 64, std::byte{0x44});
  db->close();
  EXPECT_TRUE(std::equal(sound.begin(), sound.end(), at));
}

// POW-20. The XOR of three segments that are gone looks like a segment: objects of one size, and
// checksums that are linear. Their bytes cancel out: zeros, the same bytes, numbers.
TEST_F(Seals, LostMembersThatCancelOutMakeNoOther) {
  for (uint64_t i = 0; i < 120; ++i) put(i, 900, static_cast<char>('a' + i % 26));
  db->close();
  const auto all = c->texts;
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  std::vector<uint32_t> members;
  const uint32_t seal = db->parts().space->note(first_member()).seal.load();
  for (uint32_t i = 0; i < db->parts().space->count(); ++i)
    if (db->parts().space->note(i).seal.load() == seal) members.push_back(i);
  ASSERT_EQ(members.size(), 8U);
  for (uint32_t each = 256; each < 4 * 256; ++each) {
    const uint32_t lost = each % 256, kind = each / 256;
    const int n = std::popcount(lost);
    if (n != 3 && n != 5) continue;
    db.reset();
    std::ranges::copy(sound, bytes.begin());
    for (uint32_t k = 0; k < 8; ++k)
      if ((lost >> k & 1) != 0)
        std::fill_n(page(members[k], 0), segment_bytes,
                    static_cast<std::byte>(kind == 1   ? 0
                                           : kind == 2 ? 0x77
                                                       : 0x40 + k));
    ASSERT_NO_THROW(reopen(true)) << lost;
    EXPECT_GE(db->recovered().lost, static_cast<uint64_t>(n)) << lost;
    for (const auto& [i, text] : c->texts) {
      ASSERT_TRUE(all.contains(i)) << lost;
      ASSERT_EQ(text, all.at(i)) << lost;
    }
    for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << lost << ": " << d.text;
    db->close();
    ASSERT_NO_THROW(reopen()) << lost;
    EXPECT_EQ(db->recovered().lost, 0U);
  }
}

// The costs: the bytes of `none`, and one segment for eight.
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
  // Five lines each; heads and ends; the XOR of full segments; and the lines that each growth
  // writes.
  const uint64_t segments = 1000 * 5 / (db->parts().layout.lines() - 1);
  const uint64_t growths = db->parts().count.growths.load();
  EXPECT_LE(lines() - before, 1000 * 5 + segments * 2 + (segments / 8) * (segment_bytes / 64) +
                                  growths * (head_copies * head_page / 64 + 8));
  EXPECT_GE(count(use::seal), 2U);
}

}  // namespace
}  // namespace scute::core::pow
