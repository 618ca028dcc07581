// SPDX-License-Identifier: BSD-3-Clause
// The search for the right mixture: what it finds, and how often it tries (the probability of
// taking wrong bytes for right ones is that number times 2^-32).
#include "core/repair/erasure/hybrid_decode.hpp"

#include <gtest/gtest.h>

#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

using image = std::vector<std::byte>;

class hybrid_decode : public testing::Test {
 protected:
  void SetUp() override {
    f.create(2 * mib);
    f.fill();
    oid = f.add(4096);
    const auto where = f.in().heap->zones().locate(f.offset_of(oid));
    fragment = where.fragment(0);
    units = repair::units_of(fragment);
    right.resize(units.back().at + units.back().length);
    for (const repair::unit& u : units) std::memcpy(&right[u.at], f.raw(u.offset), u.length);
    kept = decoded = right;
    ASSERT_TRUE(repair::image_valid(f.in().s, fragment, right));
  }
  static void spoil(image& to, size_t at, size_t n, uint64_t key = 1) {
    const bytes noise = pattern(key, n);
    for (size_t i = 0; i < n; ++i) to[at + i] ^= static_cast<std::byte>(noise[i] | 1);
  }
  bool find() {
    repair::hybrid_decode m(f.in().s, fragment, units, kept, decoded);
    image found(right.size());
    const bool ok = m.find(found);
    attempts = m.attempts();
    if (ok) {
      EXPECT_TRUE(found == right);
    }
    return ok;
  }

  known_pool f;
  scute_oid oid = 0;
  pool::fragment fragment;
  std::vector<repair::unit> units;
  image right, kept, decoded;
  uint64_t attempts = 0;
};

// MIX-1, MIX-2.
TEST_F(hybrid_decode, ThreeClustersInEveryDistribution) {
  constexpr size_t places[] = {10, 200, 2000};  // the first one in the header
  for (unsigned mine = 0; mine < 8; ++mine) {
    SCOPED_TRACE(mine);
    kept = decoded = right;
    for (unsigned i = 0; i < 3; ++i) spoil((mine >> i & 1) != 0 ? kept : decoded, places[i], 8);
    if (mine == 0) continue;  // nothing of the fragment itself is damaged
    EXPECT_TRUE(find());
    EXPECT_LE(attempts, 7u);
  }
}

// MIX-2.
TEST_F(hybrid_decode, ManyClustersOnOneSideOfAPage) {
  for (size_t at = 40; at < right.size() - 100; at += 150) spoil(kept, at, 4);
  spoil(decoded, 0, 32);
  EXPECT_TRUE(find());
  EXPECT_LE(attempts, 7u);
}

// MIX-2, MIX-4, REPAIR-5.
TEST_F(hybrid_decode, HopelessFragmentsAreTriedSevenTimesAtMost) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 500; ++round) {
    kept = decoded = right;
    // Scattered flips on both sides, one of them in the same byte.
    for (uint64_t n = random.between(0, 12); n != 0; --n)
      spoil(random.one_in(2) ? kept : decoded, random.between(0, right.size() - 9), 8,
            random.word());
    const size_t both = random.between(0, right.size() - 3);
    spoil(kept, both, 1, 1);
    kept[both] ^= std::byte{2};
    spoil(decoded, both, 1, 2);
    decoded[both] ^= std::byte{4};
    if (find()) ADD_FAILURE() << "round " << round;
    ASSERT_LE(attempts, 7u);
  }
}

// MIX-3, MIX-4.
TEST_F(hybrid_decode, ACutInTheHeaderOrThePayloadEitherWay) {
  SCUTE_RANDOM(random);
  uint64_t most = 0;
  for (int round = 0; round < 300; ++round) {
    kept = decoded = right;
    const size_t cut =
        random.one_in(3) ? random.between(1, 31) : random.between(1, right.size() - 1);
    // Sometimes the scribble is a little shorter than a row.
    const size_t gap = random.one_in(2) ? random.between(0, 60) : 0;
    const bool forward = random.one_in(2);
    spoil(forward ? decoded : kept, 0, cut, random.word());
    if (cut + gap < right.size())
      spoil(forward ? kept : decoded, cut + gap, right.size() - cut - gap, random.word());
    if (kept == right) continue;
    SCOPED_TRACE("cut at " + std::to_string(cut) + ", " + std::to_string(gap) + " between");
    EXPECT_TRUE(find());
    most = std::max(most, attempts);
    if (HasFailure()) break;
  }
  EXPECT_GT(most, 1000u);
  EXPECT_LT(most, 16600u);
}

// MIX-5
TEST_F(hybrid_decode, NoCutsWithSeveralParities) {
  kept = decoded = right;
  spoil(decoded, 0, 1500);
  spoil(kept, 1500, right.size() - 1500);
  f.in().s.geo.parity = 2;
  EXPECT_FALSE(find());
  EXPECT_LE(attempts, 7u);
  f.in().s.geo.parity = 1;
  EXPECT_TRUE(find());
}

// A repair that a crash cut short has repaired some words of one side. (MIX-3)
TEST_F(hybrid_decode, ACutThatWasRepairedInPart) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 300; ++round) {
    kept = decoded = right;
    const size_t cut = random.between(40, right.size() - 40);
    const bool forward = random.one_in(2);
    image &front = forward ? decoded : kept, &back = forward ? kept : decoded;
    spoil(front, 0, cut, random.word());
    spoil(back, cut, right.size() - cut, random.word());
    const bool in_front = random.one_in(2);
    for (size_t at = in_front ? 0 : cut; at < (in_front ? cut : right.size()); at += 8)
      if (!random.one_in(3)) {
        const size_t n = std::min<size_t>(8, (in_front ? cut : right.size()) - at);
        std::copy_n(right.begin() + static_cast<long>(at), n,
                    (in_front ? front : back).begin() + static_cast<long>(at));
      }
    if (kept == right) continue;
    SCOPED_TRACE("cut at " + std::to_string(cut) + (in_front ? ", front" : ", back"));
    EXPECT_TRUE(find());
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace scute::test
