// SPDX-License-Identifier: BSD-3-Clause
// POW-24: groups concurrently with threads that write, and where there is no room left.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "seal_fixture.hpp"

namespace scute::core::pow {
namespace {

class SealRoom : public Seals {
 protected:
  void make_bounded(double share = 0.5) {
    db.reset();
    std::ranges::fill(bytes, std::byte{0});
    shape how;
    how.protect = protection::sealed;
    how.segment_size = segment_bytes;
    how.segments = segments_least;
    store_options w = chosen();
    w.limit.bounded = true;
    w.limit.max_live_share = share;
    db = store::create(std::make_unique<plain_medium>(bytes), "plain", how, w);
    attach();
  }
  bool waits(uint32_t i) const {
    const segment_note& s = db->parts().space->note(i);
    return s.what.load() == use::full && s.seal.load() == nowhere && !s.loose && !s.pinned.load() &&
           !s.damaged.load();
  }
  // Segments that are full and have no group, though they could have one.
  uint64_t waiting() const {
    uint64_t n = 0;
    for (uint32_t i = 0; i < db->parts().space->count(); ++i) n += waits(i);
    return n;
  }
};

TEST_F(SealRoom, NoSegmentStaysUnsealedWhileThreadsWrite) {
  constexpr uint64_t threads = 8;
  make_bounded();
  fill(0, 120);
  std::array<cells, threads> all;
  std::array<std::mutex, threads> locks;
  for (uint64_t t = 0; t < threads; ++t)
    all[t].t = &db->attach("cells " + std::to_string(t), 7, 0, true, all[t]);
  std::atomic<uint64_t> longest{0};
  std::vector<std::thread> running;
  for (uint64_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      for (uint64_t i = 0; i < 1500; ++i) {
        section s(db->parts(), durability::strict);
        all[t].put(s, random() % 12,
                   std::string(200 + random() % 1500, static_cast<char>('a' + i % 26)));
        s.commit();
        const uint64_t now = waiting();
        for (uint64_t was = longest; now > was && !longest.compare_exchange_weak(was, now);) {
        }
      }
    });
  for (std::thread& t : running) t.join();
  // Segments that each thread fills while others make the groups; segments that the cleaner has
  // filled; and segments that have left a group.
  EXPECT_LE(longest, unsealed_max + threads + 2 + (members_max - 1));
  EXPECT_GT(db->parts().count.sealed_groups.load(), 0U);
  db->close();
  EXPECT_EQ(waiting(), 0U);
  EXPECT_EQ(count(use::open), 0U);
  const auto before = all[3].texts;
  reopen();
  cells again;
  again.t = &db->attach("cells 3", 7, 0, true, again);
  EXPECT_EQ(again.texts, before);
  EXPECT_EQ(db->recovered().lost, 0U);
}

// Cold data stays where it lies, and other segments are filled in front of it.
TEST_F(SealRoom, NoGroupPassesOverASegmentThatWaitsLonger) {
  make_bounded();
  std::mt19937_64 random(5);
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> seen;  // waiting, and the groups there were
  uint64_t passed = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    {
      section s(db->parts(), durability::strict);
      for (uint64_t n = random() % 4 == 0 ? 40 : 3; n != 0; --n)
        c->put(s, random() % 10 == 0 ? random() % 60 : random() % 6,
               std::string(600 + random() % 1500, static_cast<char>('a' + i % 26)));
      s.commit();
    }
    const uint64_t groups = db->parts().count.sealed_groups.load();
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> now;
    for (uint32_t k = 0; k < db->parts().space->count(); ++k) {
      if (!waits(k)) continue;
      const std::pair<uint32_t, uint64_t> which{k, db->parts().space->note(k).generation};
      const auto at = seen.find(which);
      now[which] = at == seen.end() ? groups : at->second;
      passed = std::max(passed, groups - now[which]);
    }
    seen = std::move(now);
  }
  EXPECT_GT(db->parts().count.sealed_groups.load(), 20U);
  EXPECT_LE(passed, 1U);
}

// Closed after each number of sections, so that what is free may just be kept back.
TEST_F(SealRoom, ACloseLeavesNothingOutsideOfAGroup) {
  unsigned cleaned = 0;
  for (uint64_t sections = 150; sections < 330; ++sections) {
    make_bounded();
    std::mt19937_64 random(sections % 7);
    for (uint64_t i = 0; i < sections; ++i)
      put(random() % 9, 900 + random() % 2500, static_cast<char>('a' + i % 26));
    const uint64_t segments = db->parts().space->count();
    const uint64_t before = db->parts().count.cleaned_segments.load();
    const bool first = db->parts().worth_cleaning();
    db->close();
    ASSERT_EQ(waiting(), 0U) << sections;
    ASSERT_EQ(count(use::open), 0U) << sections;
    if (first) {
      ASSERT_EQ(db->parts().space->count(), segments) << sections;
    }
    cleaned += db->parts().count.cleaned_segments.load() != before;
    const auto texts = c->texts;
    reopen();
    ASSERT_EQ(c->texts, texts) << sections;
    // (What a close has ended says where it ends.)
    ASSERT_TRUE(db->check(false, true).damage.empty()) << sections;
  }
  EXPECT_GT(cleaned, 0U);
}

// A section of many segments: they have groups soon after it has ended, not when as many more are
// full.
TEST_F(SealRoom, SegmentsOfALargeSectionAreSealedAfterIt) {
  {
    section s(db->parts(), durability::strict);
    for (uint64_t i = 0; i < 150; ++i) c->put(s, i, std::string(1500, 'x'));
    s.commit();
  }
  ASSERT_GE(waiting(), 2 * members_max);
  const uint64_t full = count(use::full);
  for (uint64_t i = 0; count(use::full) == full; ++i) put(i, 1500, 'y');
  EXPECT_LT(waiting(), members_max);
}

}  // namespace
}  // namespace scute::core::pow
