// SPDX-License-Identifier: BSD-3-Clause
// Which lost pages prove that a rebuilt one is wrong (POW-20).
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pow/recovery/rebuilt.hpp"

namespace scute::core::pow {
namespace {

// Pages of one byte, in each order.
void expect_cancel(bool expected, std::vector<int> bytes) {
  std::ranges::sort(bytes);
  do {
    std::vector<std::vector<std::byte>> pages;
    for (const int b : bytes) pages.push_back({std::byte{0}, static_cast<std::byte>(b)});
    EXPECT_EQ(cancel_out(pages), expected) << testing::PrintToString(bytes);
  } while (std::ranges::next_permutation(bytes).found);
}

TEST(Rebuilt, PagesCancelOutInEachOrder) {
  expect_cancel(false, {});
  expect_cancel(false, {0});
  expect_cancel(false, {0, 7});
  expect_cancel(false, {0, 1, 2, 4, 8});
  expect_cancel(true, {0, 0});
  expect_cancel(true, {0, 0, 5});
  expect_cancel(true, {0, 5, 5});
  expect_cancel(true, {6, 6});
  expect_cancel(true, {1, 2, 3});
  expect_cancel(true, {0, 1, 2, 3});
  expect_cancel(false, {1, 3, 7, 15});
  expect_cancel(true, {1, 3, 7, 15, 8});
}

}  // namespace
}  // namespace scute::core::pow
