// SPDX-License-Identifier: BSD-3-Clause
// POW-21: openings that are killed again and again while they copy the data next to a batch that
// does not count.
#include <random>
#include <vector>

#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

class KilledOpenings : public Store {
 protected:
  void TearDown() override { plain_medium::before_fence = {}; }
  // Tears the written parts of texts of this letter, wherever they lie.
  void tear(char letter) {
    const std::string run(8, letter);
    const auto same = [](std::byte b, char y) { return b == std::byte(y); };
    for (auto at = bytes.begin();; at += 8) {
      at = std::search(at, bytes.end(), run.begin(), run.end(), same);
      if (at == bytes.end()) return;
      std::fill_n(at, 8, std::byte{0});
    }
  }
  // As far as a file that was not closed says.
  uint64_t void_segments() const {
    uint64_t n = 0;
    for (uint64_t i = 0; i < segments; ++i) {
      uint32_t magic = 0;
      std::memcpy(&magic, bytes.data() + first_segment + i * 72 * 1024, sizeof magic);
      n += magic == void_magic ? 1 : 0;
    }
    return n;
  }
  // The opening ends before its nth fence. False: it had not so many.
  bool open_until(uint64_t nth) {
    std::vector<std::byte> then;
    uint64_t fences = 0;
    plain_medium::before_fence = [&] {
      if (++fences == nth) then.assign(bytes.begin(), bytes.end());
    };
    reopen();
    plain_medium::before_fence = {};
    db.reset();
    if (then.empty()) return false;
    std::ranges::copy(then, bytes.begin());
    return true;
  }
  // Twenty times at one moment, at each; then at any. All that counts is there afterwards, and as
  // much room as there was.
  void kill_and_look() {
    db.reset();
    const uint64_t least = void_segments();
    const std::vector<std::byte> crashed(bytes.begin(), bytes.end());
    const auto texts = [&] {
      reopen();
      EXPECT_TRUE(db->check(false, true).damage.empty());
      return c->texts;
    };
    const auto wanted = texts();
    EXPECT_GT(db->recovered().batches_dropped, 0U);
    const auto look = [&](const std::string& when) {
      EXPECT_TRUE(texts() == wanted) << when;
      EXPECT_GE(db->parts().space->free_count(), least) << when;
      db.reset();
    };
    uint64_t moments = 0;
    for (bool any = true; any; ++moments) {
      std::ranges::copy(crashed, bytes.begin());
      any = false;
      for (int again = 0; again < 20; ++again) any = open_until(moments + 1) || any;
      look("before fence " + std::to_string(moments + 1));
      if (HasFailure()) return;
    }
    EXPECT_GT(moments, 6U);
    std::mt19937_64 random(5);
    for (int round = 0; round < 20; ++round) {
      std::ranges::copy(crashed, bytes.begin());
      for (int again = 0; again < 20; ++again) open_until(1 + random() % moments);
      look("round " + std::to_string(round));
      if (HasFailure()) return;
    }
  }
};
std::string name_of(const ::testing::TestParamInfo<protection>& p) {
  return p.param == protection::none ? "None" : p.param == protection::sealed ? "Sealed" : "Always";
}
INSTANTIATE_TEST_SUITE_P(, KilledOpenings,
                         ::testing::Values(protection::none, protection::sealed,
                                           protection::always),
                         name_of);

// A full file, with a torn batch and one that rests on it.
TEST_P(KilledOpenings, OfAFullFile) {
  make();
  uint64_t n = 0;
  try {
    for (;; ++n) put(n, std::string(2000, static_cast<char>('a' + n % 26)));
  } catch (const failure& f) {
    ASSERT_EQ(f.code(), SCUTE_E_NOSPC);
  }
  for (const char letter : {'*', '+'}) {  // the second one rests on the first
    section s(db->parts(), durability::later);
    c->put(s, 0, std::string(100, letter));
    s.commit();
  }
  tear('*');
  kill_and_look();
}

// Several segments have to be copied, some of them parts of a batch that has no end.
TEST_P(KilledOpenings, WithSeveralVictims) {
  make();
  for (uint64_t i = 0; i < 5; ++i) put(i, std::string(100, '*'));
  {
    section s(db->parts(), durability::later);
    for (uint64_t i = 20; i < 23; ++i) c->put(s, i, std::string(30'000, 'd'));
    s.commit();
  }
  tear('d');
  kill_and_look();
}

}  // namespace
}  // namespace scute::core::pow
