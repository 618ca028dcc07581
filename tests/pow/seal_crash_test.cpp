// SPDX-License-Identifier: BSD-3-Clause
// Groups of segments whose end, or whose repair, was cut short; and groups in files that are full.
#include <algorithm>
#include <cstring>

#include "pow/file/seal_layout.hpp"
#include "seal_fixture.hpp"

namespace scute::core::pow {
namespace {

class SealCrash : public Seals {
 protected:
  ~SealCrash() override { plain_medium::before_fence = {}; }
  std::byte* second_table(uint32_t segment) {
    return page(segment, 0) + segment_bytes - sizeof(seal_table);
  }
  bool has_table(uint32_t segment) { return read_table(db->parts(), segment).has_value(); }
};

// The power fails while a group becomes void: the first table is, and the second one not yet.
// Recovery finishes it. Otherwise the second one would count in the place of the head of the
// segment's next use, if that is damaged.
TEST_F(SealCrash, NothingIsLeftOfATableThatWasBecomingVoid) {
  fill(0, 100);
  const uint32_t seal = first_of(use::seal);
  const void_head nobodys = make_void_head(db->parts().salt);
  const auto all = c->texts;
  db.reset();
  std::memcpy(page(seal, 0), &nobodys, sizeof nobodys);
  ASSERT_NE(std::count(second_table(seal), second_table(seal) + 64, std::byte{0}), 64);
  reopen();
  EXPECT_EQ(c->texts, all);
  // The segment is in use, and its first page is lost.
  db->parts().space->prefer_low();
  for (uint64_t i = 200; db->parts().space->note(seal).what.load() == use::free; ++i)
    put(i, 1500, 'x');
  ASSERT_EQ(db->parts().space->note(seal).what.load(), use::open);
  put(300, 1500, 'y');
  std::fill_n(page(seal, 0), head_page, std::byte{0x77});
  EXPECT_FALSE(has_table(seal));
  db.reset();
  EXPECT_THROW(reopen(), failure) << "the loss must be reported";
}

// Each table alone is known to be damaged, and is written again.
TEST_F(SealCrash, ACheckFindsEachOfTheTwoTables) {
  fill(0, 100);
  for (const bool second : {false, true}) {
    const uint32_t seal = first_of(use::seal);
    std::fill_n(second ? second_table(seal) : page(seal, 0), sizeof(seal_table), std::byte{0x3c});
    EXPECT_EQ(db->check(false, true).damage.size(), 1U) << second;
    db->check(true, true);
    EXPECT_TRUE(db->check(false, true).damage.empty()) << second;
    EXPECT_GE(sealed(), 8U);
  }
}

// A member and its seal are damaged. While what the seal has given back may not be durable, the
// seal stays.
TEST_F(SealCrash, ASealStaysUntilWhatItGaveBackIsDurable) {
  fill(0, 100);
  const uint32_t seal = first_of(use::seal), member = first_member();
  std::fill_n(page(member, 1), head_page, std::byte{0x3c});
  std::fill_n(page(seal, 2) + head_page - 64, 64, std::byte{0x3c});
  const std::vector<std::byte> broken(page(member, 1), page(member, 2));
  bool durable = false, early = false;
  plain_medium::before_fence = [&] {
    const bool repaired = std::memcmp(page(member, 1), broken.data(), head_page) != 0;
    early = early || (!durable && !has_table(seal));
    durable = durable || repaired;  // from this fence on
  };
  db->check(true, true);
  plain_medium::before_fence = {};
  EXPECT_TRUE(durable);
  EXPECT_FALSE(early);
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

// Two members are damaged at one place, and a third one at another. The group knows the third one's
// page, so a check leaves it as it is, and says what it could not make right.
TEST_F(SealCrash, AGroupThatIsBeyondRepairStays) {
  fill(0, 100);
  const uint32_t seal = first_of(use::seal);
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < db->parts().space->count(); ++i)
    if (db->parts().space->note(i).seal.load() == seal) members.push_back(i);
  ASSERT_EQ(members.size(), 8U);
  for (const size_t k : {1U, 2U}) std::fill_n(page(members[k], 1), head_page, std::byte{0x3c});
  std::fill_n(page(members[3], 2), 1024, std::byte{0x3c});
  const auto reported = db->check(true, true).damage;
  EXPECT_EQ(
      std::ranges::count_if(
          reported, [](const auto& d) { return d.text.find("its group cannot") != d.text.npos; }),
      2);
  EXPECT_TRUE(has_table(seal));
  EXPECT_EQ(db->parts().space->note(seal).what.load(), use::seal);
}

// The same bits flip in two members, or in one and in the XOR: the XOR still fits, and a member
// that is rebuilt is as damaged as before. Its checksums say so (POW-20).
TEST_F(SealCrash, DamageThatCancelsOutIsNotRepaired) {
  fill(0, 100);
  db->close();
  const auto all = c->texts;
  const uint32_t seal = first_of(use::seal);
  std::vector<std::byte*> places;
  for (uint32_t i = 0; i < db->parts().space->count() && places.size() < 3; ++i)
    if (db->parts().space->note(i).seal.load() == seal) places.push_back(page(i, 1));
  ASSERT_EQ(places.size(), 3U);
  places.push_back(bytes.data() + sum_at(db->parts(), seal, head_page));
  db.reset();
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  for (size_t one = 0; one < places.size(); ++one)
    for (size_t other = one + 1; other < places.size(); ++other) {
      db.reset();
      std::ranges::copy(sound, bytes.begin());
      for (size_t i = 100; i < 2000; ++i) {
        const auto flip = static_cast<std::byte>(i * 31);
        places[one][i] ^= flip;
        places[other][i] ^= flip;
      }
      reopen(true);
      EXPECT_GT(db->recovered().lost, 0U) << one << " " << other;
      EXPECT_LT(c->texts.size(), all.size());
      for (const auto& [i, text] : c->texts) ASSERT_EQ(text, all.at(i)) << one << " " << other;
    }
}

// A repair writes a head of zeros again, and the power fails during it. Each mixture of the old
// and the new bytes is taken for damage, and none for a member that is void (POW-20).
TEST_F(SealCrash, AHeadThatIsTornInItsRepairIsRepairedAgain) {
  fill(0, 100);
  const uint32_t member = last_member();
  const uint64_t salt = db->parts().salt;
  const auto all = c->texts;
  db.reset();
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  uint64_t head[8];
  std::memcpy(head, page(member, 0), sizeof head);
  std::fill_n(page(member, 0), head_page, std::byte{0});
  // The bytes that are durable before the head itself is stored, and that it is thus mixed with.
  std::vector<std::vector<uint64_t>> before;
  plain_medium::before_fence = [&] {
    std::vector<uint64_t> line(8);
    std::memcpy(line.data(), page(member, 0), sizeof head);
    if (before.empty() || before.back() != line) before.push_back(line);
  };
  reopen();
  plain_medium::before_fence = {};
  EXPECT_EQ(c->texts, all);
  const std::vector<uint64_t> whole(head, head + 8);
  ASSERT_GE(before.size(), 2U);
  const auto at = std::ranges::find(before, whole);
  ASSERT_TRUE(at != before.end() && at != before.begin());
  const std::vector<uint64_t> from = *(at - 1);
  for (unsigned mask = 0; mask < 256; ++mask) {
    db.reset();
    std::ranges::copy(sound, bytes.begin());
    std::fill_n(page(member, 0), head_page, std::byte{0});
    for (unsigned i = 0; i < 8; ++i)
      std::memcpy(page(member, 0) + 8 * i, (mask >> i & 1) != 0 ? &head[i] : &from[i], 8);
    reopen();
    ASSERT_EQ(c->texts, all) << mask;
  }
  // One that was becoming void ends its group, whichever words have come.
  for (unsigned mask = 0; mask < 255; ++mask) {
    db.reset();
    std::ranges::copy(sound, bytes.begin());
    const void_head nobodys = make_void_head(salt);
    uint64_t to[8];
    std::memcpy(to, &nobodys, sizeof to);
    bool mixed = false;
    for (unsigned i = 0; i < 8; ++i) {
      std::memcpy(page(member, 0) + 8 * i, (mask >> i & 1) != 0 ? &head[i] : &to[i], 8);
      mixed = mixed || ((mask >> i & 1) == 0 && head[i] != to[i]);
    }
    reopen(true);
    ASSERT_EQ(count(use::seal), mixed ? 0U : 1U) << mask;
  }
}

// A seal takes no room that is kept back: whatever was put until nothing fits can be erased.
TEST_F(SealCrash, AFullFileCanErase) {
  for (const size_t n : {60U, 300U, 1000U, 5000U}) {
    SCOPED_TRACE(n);
    make();
    uint64_t i = 0;
    try {
      for (;; ++i) put(i, n, 'x');
    } catch (const failure& f) {
      ASSERT_EQ(f.code(), SCUTE_E_NOSPC);
    }
    ASSERT_GT(count(use::seal), 3U);
    for (uint64_t k = 0; k < i; ++k) {
      section one(db->parts(), durability::strict);
      c->erase(one, k);
      ASSERT_NO_THROW(one.commit()) << k << " of " << i;
    }
    EXPECT_TRUE(db->check(false, true).damage.empty());
  }
}

// How many segments are in use is in the head page of a store that was closed.
TEST_F(SealCrash, AClosedStoreSaysHowManySegmentsAreInUse) {
  shape how;
  how.segment_size = segment_bytes;
  how.segments = segments_least;
  how.protect = protection::none;
  db = store::create(std::make_unique<plain_medium>(bytes), "plain", how, chosen());
  attach();
  put(0, 100, 'a');
  db->close();
  file_head h;
  std::memcpy(&h, bytes.data(), sizeof h);
  EXPECT_EQ(h.clean, 1U);
  EXPECT_GT(h.in_use, 0U);
}

}  // namespace
}  // namespace scute::core::pow
