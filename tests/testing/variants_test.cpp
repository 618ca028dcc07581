// SPDX-License-Identifier: BSD-3-Clause
// The order in which subsets of the pending atoms are tried.
#include "testing/variants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "model/litmus.hpp"
#include "support/seed.hpp"

namespace scute::testing {
namespace {

using choice = model::persistence_model::choice;

std::set<choice> allowed(model::persistence_model& m) {
  std::set<choice> all;
  for_each_allowed(m, [&](const choice& c) { all.insert(c); });
  return all;
}

choice closed_down(const model::persistence_model& m, choice c) {
  m.close_down(c);
  return c;
}

// Ten thousand bytes, with stores to many lines.
class crowd {
 public:
  crowd() { m.reset(std::vector<std::byte>(16384)); }
  void store(uint64_t at, size_t n) {
    const std::vector<std::byte> bytes(n, std::byte{++value_});
    m.store(at, bytes.data(), n);
  }
  void stream(uint64_t at, size_t n) {
    const std::vector<std::byte> bytes(n, std::byte{++value_});
    m.stream(at, bytes.data(), n, 1);
  }
  model::persistence_model m;

 private:
  uint8_t value_ = 0;
};

// ---- few atoms ----------------------------------------------------------------------------------

struct few {
  const char* program;
  uint64_t count;
};

class Few : public ::testing::TestWithParam<few> {};

TEST_P(Few, EveryAllowedSubsetOnce) {
  model::persistence_model m;
  litmus_run(m, GetParam().program);
  for (const uint64_t seed : {1, 2, 77}) {
    const variants v(m, m.atoms(), seed);
    ASSERT_EQ(v.count(), GetParam().count);
    std::set<choice> seen;
    for (uint64_t i = 0; i < v.count(); ++i)
      EXPECT_TRUE(seen.insert(v.make(i)).second) << "variant " << i << " came before";
    EXPECT_EQ(seen, allowed(m));
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Few,
                         ::testing::Values(few{"", 1},                       // nothing is pending
                                           few{"a=1; flush a; fence", 1},    // nor here
                                           few{"a=1", 2},                    //
                                           few{"a=1; b=2; a=3", 4},          // one line: a prefix
                                           few{"a=1; b=2; c=3", 3 * 2},      // two lines
                                           few{"a<1; b<2; c<3", 2 * 2 * 2},  // words
                                           few{"a=1; b<2; c<3; d=4; c=5; a=6", 3 * 2 * 2 * 3},
                                           few{"ab=12; a=3", 1 + 3 + 1},  // a store of two words
                                           few{"a=3; ab=12; b=4; cd=12", (1 + 1 + 3 + 1) * 4},
                                           few{"ab?12; cd?34; a<1; b<2; c<3; d<4",
                                               256}));  // the most

TEST(Variants, EightWordsOfOneStoreAreFew) {
  crowd c;
  c.store(64, 64);
  const variants v(c.m, c.m.atoms(), 1);
  ASSERT_EQ(v.count(), 256u);
  std::set<choice> seen;
  for (uint64_t i = 0; i < 256; ++i) seen.insert(v.make(i));
  EXPECT_EQ(seen.size(), 256u);
}

// From there on the extremes come first, but still all subsets do.
TEST(Variants, ManyButNotTooMany) {
  for (const int kind : {0, 1}) {
    crowd c;
    if (kind == 0) {
      c.stream(64, 96);
    } else {
      c.store(64, 64);
      c.store(128, 16);
      c.store(64, 8);
    }
    const uint64_t subsets = kind == 0 ? 4096 : (1 + 255 + 1) * 4;
    const size_t atoms = c.m.atoms().size(), stores = kind == 0 ? 1 : 3;
    for (const uint64_t seed : {1, 5, 9}) {
      const variants v(c.m, c.m.atoms(), seed);
      const uint64_t before = 2 + 4 * stores + 4 * atoms;
      ASSERT_EQ(v.count(), before + subsets);
      EXPECT_EQ(v.make(0), choice(atoms, false));
      EXPECT_EQ(v.make(1), choice(atoms, true));
      std::set<choice> seen;
      for (uint64_t i = before; i < v.count(); ++i) seen.insert(v.make(i));
      EXPECT_EQ(seen.size(), subsets);
      for (const choice& one : seen) EXPECT_EQ(closed_down(c.m, one), one);
    }
  }
}

TEST(Variants, EighteenWordsAreTooMany) {
  for (const bool cached : {false, true}) {
    crowd c;
    const auto add = [&](uint64_t at, size_t n) { cached ? c.store(at, n) : c.stream(at, n); };
    add(64, 17 * 8);
    EXPECT_NE(variants(c.m, c.m.atoms(), 1).count(), UINT64_MAX);
    add(1024, 8);
    EXPECT_EQ(variants(c.m, c.m.atoms(), 1).count(), UINT64_MAX);
  }
}

// ---- many ---------------------------------------------------------------------------------------

class Many : public ::testing::Test {
 protected:
  void SetUp() override {
    // Ten stores: six streamed ones of three words, four cached ones to two lines.
    for (uint64_t i = 0; i < 6; ++i) c.stream(1024 + i * 256, 24);
    c.store(64, 8);
    c.store(128, 8);
    c.store(72, 16);
    c.store(128, 8);
    n = c.m.atoms().size();
    ASSERT_EQ(n, 6u * 3 + 5);
  }
  choice by_store(const std::function<bool(uint32_t)>& chosen) const {
    choice all(n);
    for (size_t i = 0; i < n; ++i) all[i] = chosen(c.m.current_atoms()[i].store);
    return all;
  }
  std::set<choice> first(uint64_t count, uint64_t seed) {
    const variants v(c.m, c.m.atoms(), seed);
    EXPECT_EQ(v.count(), UINT64_MAX);
    std::set<choice> seen;
    for (uint64_t i = 0; i < count; ++i) seen.insert(v.make(i));
    return seen;
  }
  crowd c;
  size_t n = 0;
};

TEST_F(Many, NothingThenEverything) {
  for (const uint64_t seed : {1, 2, 3}) {
    const variants v(c.m, c.m.atoms(), seed);
    EXPECT_EQ(v.make(0), choice(n, false));
    EXPECT_EQ(v.make(1), choice(n, true));
  }
}

// The extremes by stores are all among the first, whatever the seed.
TEST_F(Many, OneStoreMissingOneExtraAllUpToNewestFirst) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto seen = first(2 + 4 * 10, seed);
    for (uint32_t s = 0; s < 10; ++s) {
      const auto has = [&](choice wanted, bool up) {
        if (up)
          c.m.close_up(wanted);
        else
          c.m.close_down(wanted);
        return seen.count(wanted) != 0;
      };
      EXPECT_TRUE(has(by_store([&](uint32_t x) { return x == s; }), true)) << s;
      EXPECT_TRUE(has(by_store([&](uint32_t x) { return x != s; }), false)) << s;
      EXPECT_TRUE(has(by_store([&](uint32_t x) { return x <= s; }), true)) << s;
      EXPECT_TRUE(has(by_store([&](uint32_t x) { return x >= s; }), true)) << s;
    }
  }
}

// So are those by atoms, somewhat later: between them come random ones.
TEST_F(Many, OneAtomMissingOneAtomExtra) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto seen = first(2 + 4 * 10 + 4 * n, seed);
    for (size_t i = 0; i < n; ++i) {
      choice alone(n, false), missing(n, true);
      alone[i] = true;
      missing[i] = false;
      c.m.close_up(alone);
      c.m.close_down(missing);
      EXPECT_TRUE(seen.count(alone) != 0) << i;
      EXPECT_TRUE(seen.count(missing) != 0) << i;
    }
  }
}

TEST_F(Many, AllKeepTheOrderOfLines) {
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (const choice& one : first(2000, seed)) EXPECT_EQ(closed_down(c.m, one), one);
}

TEST_F(Many, RandomOnesDiffer) {
  // Far after the structured ones, and of all sizes.
  const variants v(c.m, c.m.atoms(), 5);
  std::set<choice> seen;
  std::set<long> sizes;
  for (uint64_t i = 100000; i < 101000; ++i) {
    const choice one = v.make(i);
    seen.insert(one);
    sizes.insert(std::count(one.begin(), one.end(), true));
  }
  EXPECT_GT(seen.size(), 500u);
  EXPECT_GT(sizes.size(), 15u);
}

TEST_F(Many, SameSeedSameVariants) {
  const variants one(c.m, c.m.atoms(), 9), two(c.m, c.m.atoms(), 9), other(c.m, c.m.atoms(), 10);
  bool differs = false, random_ones_differ = false;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.make(i), two.make(i)) << i;
    EXPECT_EQ(one.make(i), one.make(i)) << i;
    differs = differs || one.make(i) != other.make(i);
    random_ones_differ = random_ones_differ || one.make(i + 5000) != other.make(i + 5000);
  }
  EXPECT_TRUE(differs);
  EXPECT_TRUE(random_ones_differ);
}

// ---- any ----------------------------------------------------------------------------------------

TEST(Variants, RandomTraces) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 200; ++round) {
    crowd c;
    for (uint64_t stores = random.between(1, 20); stores != 0; --stores) {
      const uint64_t at = random.between(0, 300), n = random.size(100);
      if (random.one_in(2))
        c.store(at, n);
      else
        c.stream(at, n);
    }
    const variants v(c.m, c.m.atoms(), random.word());
    const bool few = v.count() <= 256;
    std::set<choice> seen;
    for (uint64_t i = 0; i < std::min<uint64_t>(v.count(), 300); ++i) {
      const choice one = v.make(i);
      ASSERT_EQ(one.size(), c.m.atoms().size());
      EXPECT_EQ(closed_down(c.m, one), one);
      EXPECT_TRUE(seen.insert(one).second || !few);
    }
    EXPECT_TRUE(seen.count(choice(c.m.atoms().size(), false)) != 0);
    EXPECT_TRUE(seen.count(choice(c.m.atoms().size(), true)) != 0);
    if (few && c.m.atoms().size() <= 16) {
      EXPECT_EQ(seen, allowed(c.m));
    }
  }
}

}  // namespace
}  // namespace scute::testing
