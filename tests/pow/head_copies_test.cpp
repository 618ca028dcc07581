// SPDX-License-Identifier: BSD-3-Clause
// Differences between the three copies of the head page are damage unless a crash leaves them
// (HEAD-1).
#include <cstring>
#include <vector>

#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

class HeadCopies : public Store {
 protected:
  static constexpr size_t heads = head_copies * head_page;
  using pages = std::vector<std::byte>;
  void TearDown() override { plain_medium::before_fence = {}; }

  pages now() const { return {bytes.begin(), bytes.begin() + heads}; }
  // Calls fn. The head pages before it, and each time that they have changed.
  std::vector<pages> moments_of(const std::function<void()>& fn) {
    std::vector<pages> all{now()};
    plain_medium::before_fence = [&] {
      if (pages p = now(); p != all.back()) all.push_back(std::move(p));
    };
    fn();
    plain_medium::before_fence = {};
    return all;
  }
  uint32_t damaged_in(const pages& p) {
    std::ranges::copy(p, bytes.begin());
    const plain_medium m(bytes);
    uint32_t damaged = 99;
    static_cast<void>(read_head(m, bytes.size(), "plain", damaged));
    return damaged;
  }
  // Between the two moments a crash leaves some of the lines in which they differ.
  void expect_no_damage_between(const pages& before, const pages& after) {
    constexpr size_t line = 64;
    std::vector<size_t> changed;
    for (size_t at = 0; at < heads; at += line)
      if (std::memcmp(&before[at], &after[at], line) != 0) changed.push_back(at);
    for (const bool backwards : {false, true}) {
      pages torn = before;
      if (backwards) std::ranges::reverse(changed);
      for (const size_t at : changed) {
        EXPECT_EQ(damaged_in(torn), 0U) << at;
        std::memcpy(&torn[at], &after[at], line);
      }
      EXPECT_EQ(damaged_in(torn), 0U);
    }
    // Within a line a kill leaves whole words.
    for (const size_t at : changed)
      for (size_t n = 8; n < line; n += 8) {
        pages torn = before;
        std::memcpy(&torn[at], &after[at], n);
        EXPECT_EQ(damaged_in(torn), 0U) << at + n;
      }
  }
  // At each moment of fn, which is as a process leaves it that is killed there.
  void expect_no_damage(size_t least, const std::function<void()>& fn) {
    const auto all = moments_of(fn);
    EXPECT_GE(all.size(), least + 1);
    for (size_t i = 1; i < all.size(); ++i) expect_no_damage_between(all[i - 1], all[i]);
    std::ranges::copy(all.back(), bytes.begin());
  }
};
INSTANTIATE_TEST_SUITE_P(, HeadCopies, ::testing::Values(protection::always),
                         [](const auto&) { return std::string("Always"); });

TEST_P(HeadCopies, AtEachMomentOfALife) {
  make();
  expect_no_damage(3, [&] {
    section s(db->parts(), durability::later);
    c->put(s, 1, "one");
    s.commit();
    db->parts().raise_tags(db->parts().lane_at(0).w, 1000);
  });
  // The end of the first session is not known, so this opening decides.
  expect_no_damage(3, [&] { reopen(); });
  expect_no_damage(3, [&] { db->close(); });
  expect_no_damage(3, [&] { reopen(); });
  expect_no_damage(3, [&] { db->close(); });
}

// At each of these moments the next opening is killed at each of its moments.
TEST_P(HeadCopies, WhenTheOpeningAfterACrashIsKilled) {
  make();
  put(1, "one");
  std::vector<std::vector<std::byte>> crashed;
  plain_medium::before_fence = [&] { crashed.emplace_back(bytes.begin(), bytes.end()); };
  db->close();
  plain_medium::before_fence = {};
  for (const auto& left : crashed) {
    db.reset();
    std::ranges::copy(left, bytes.begin());
    expect_no_damage(0, [&] {
      reopen();
      EXPECT_EQ(db->recovered().repaired, 0U);
    });
  }
}

TEST_P(HeadCopies, AllElseIsDamage) {
  make();
  const auto all = moments_of([&] { db->close(); });
  db.reset();
  ASSERT_EQ(all.size(), 4U);
  const auto copy_of = [](pages& p, uint32_t i) { return p.data() + i * head_page; };
  pages older = all.front(), newest = all.back();
  for (uint32_t i = 0; i < head_copies; ++i) {
    // A page that is lost, or that a device has got wrong.
    for (const size_t at : {0, 24, 56, 72, 100, 4000}) {
      pages p = newest;
      copy_of(p, i)[at] ^= std::byte{4};
      EXPECT_EQ(damaged_in(p), 1U) << i << " " << at;
    }
    pages p = newest;
    std::memset(copy_of(p, i), 0, head_page);
    EXPECT_EQ(damaged_in(p), 1U) << i;
  }
  // A copy that a write has missed.
  for (const uint32_t i : {0U, 1U}) {
    pages p = newest;
    std::memcpy(copy_of(p, i), copy_of(older, i), head_page);
    EXPECT_EQ(damaged_in(p), 1U) << i;
  }
  pages p = newest;
  std::memcpy(copy_of(p, 0), copy_of(older, 0), head_page);
  std::memcpy(copy_of(p, 1), copy_of(older, 1), head_page);
  EXPECT_EQ(damaged_in(p), 2U);
  // Something else between the newest and an older one.
  p = all[1];
  copy_of(p, 1)[48] ^= std::byte{4};
  EXPECT_EQ(damaged_in(p), 2U);
}

}  // namespace
}  // namespace scute::core::pow
