// SPDX-License-Identifier: BSD-3-Clause
// The predictions of a core, by kernels whose answers are known.
#include "machine/branches.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace scute::sim {
namespace {

constexpr uint64_t code = 0x401000;

// Share of one branch's outcomes that were not foreseen, in the second half of n.
double missed(unsigned n, const std::function<bool(unsigned)>& taken) {
  branches b;
  unsigned wrong = 0;
  for (unsigned i = 0; i < n; ++i) {
    const bool right =
        b.foresees({code, code + 2, block_exit::branches}, taken(i) ? code + 64 : code + 2);
    if (!right && i >= n / 2) ++wrong;
  }
  return wrong / (n / 2.0);
}

TEST(Branches, APatternIsLearned) {
  EXPECT_EQ(missed(20000, [](unsigned i) { return i % 7 != 6; }), 0);
  EXPECT_LT(missed(20000, [](unsigned i) { return i % 24 % 5 % 2 == 0; }), 0.001);
  // A loop of a hundred rounds is within the history.
  EXPECT_LT(missed(40000, [](unsigned i) { return i % 100 != 99; }), 0.002);
}

TEST(Branches, CoinsAreNot) {
  std::mt19937 random(1);
  std::vector<bool> coins(40000);
  for (auto&& c : coins) c = (random() & 1) != 0;
  const double share = missed(40000, [&](unsigned i) { return coins[i]; });
  EXPECT_GT(share, 0.45);
  EXPECT_LT(share, 0.55);
  // A bias is.
  std::mt19937 other(2);
  EXPECT_LT(missed(40000, [&](unsigned) { return other() % 16 != 0; }), 0.12);
}

// BRANCH-1: the outcome of another branch predicts, its own future outcome does not.
TEST(Branches, WhatOthersHaveDoneIsUsed) {
  std::mt19937 random(3);
  branches b;
  unsigned first = 0, second = 0;
  for (unsigned i = 0; i < 40000; ++i) {
    const bool coin = (random() & 1) != 0;
    const bool one =
        b.foresees({code, code + 2, block_exit::branches}, coin ? code + 64 : code + 2);
    const bool two =
        b.foresees({code + 128, code + 130, block_exit::branches}, coin ? code + 200 : code + 130);
    if (i < 20000) continue;
    first += !one;
    second += !two;
  }
  EXPECT_GT(first, 9000U);
  EXPECT_LT(second, 400U);
}

TEST(Branches, CallsComeBack) {
  branches b;
  for (uint64_t depth = 0; depth < 20; ++depth)
    EXPECT_TRUE(b.foresees({code + depth * 16, code + depth * 16 + 5, block_exit::calls},
                           code + depth * 16 + 16));
  for (uint64_t depth = 20; depth-- > 0;)
    EXPECT_TRUE(
        b.foresees({code + 0x1000, code + 0x1001, block_exit::returns}, code + depth * 16 + 5))
        << depth;
  EXPECT_FALSE(b.foresees({code, code + 1, block_exit::returns}, code + 77));
}

TEST(Branches, IndirectTargetsByHistory) {
  const uint64_t targets[] = {code + 0x100, code + 0x200, code + 0x300};
  const auto wrong = [&](const std::function<unsigned(unsigned)>& which) {
    branches b;
    unsigned n = 0;
    for (unsigned i = 0; i < 20000; ++i)
      if (!b.foresees({code, code + 3, block_exit::jumps_widely}, targets[which(i)]) && i >= 10000)
        ++n;
    return n;
  };
  EXPECT_EQ(wrong([](unsigned) { return 0U; }), 0U);
  EXPECT_LT(wrong([](unsigned i) { return i % 3; }), 100U);
  std::mt19937 random(4);
  EXPECT_GT(wrong([&](unsigned) { return static_cast<unsigned>(random() % 3); }), 5000U);
}

TEST(Branches, WhatGoesStraightOnIsForeseen) {
  branches b;
  EXPECT_TRUE(b.foresees({code, code + 4, block_exit::falls}, code + 4));
  EXPECT_TRUE(b.foresees({code, code + 4, block_exit::falls}, code));  // rep movs, the next turn
  EXPECT_TRUE(b.foresees({code, code + 4, block_exit::jumps}, code + 400));
}

}  // namespace
}  // namespace scute::sim
