// SPDX-License-Identifier: BSD-3-Clause
// The list of planted bugs is well-formed. This file alone sees the switches, in a program whose
// core has none; planted.sh makes sure of the latter, and looks here for what it must not find
// there.
#include "planted/planted.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace {

using namespace scute::core::planted;

TEST(planted, NamesAndTexts) {
  std::set<std::string> texts;
  for (const description& d : all) {
    EXPECT_TRUE(std::regex_match(d.name, std::regex("[a-z]+(_[a-z]+)*"))) << d.name;
    EXPECT_TRUE(std::regex_match(d.text, std::regex("[a-z][^.;\"]*[^ .;\"]"))) << d.text;
    EXPECT_TRUE(texts.insert(d.text).second) << d.text;
  }
  EXPECT_GE(texts.size(), 60u);
}

TEST(planted, OneAtATime) {
  EXPECT_EQ(active, bug::none);
  EXPECT_FALSE(SCUTE_PLANTED(decide_fence));
  active = bug::decide_fence;
  EXPECT_TRUE(SCUTE_PLANTED(decide_fence));
  EXPECT_FALSE(SCUTE_PLANTED(apply_fence));
  EXPECT_TRUE(leaves_out(scute::core::fence_site::decide));
  EXPECT_FALSE(leaves_out(scute::core::fence_site::apply));
  EXPECT_FALSE(leaves_out(scute::core::fence_site::repair));
  active = bug::none;
  EXPECT_FALSE(leaves_out(scute::core::fence_site::decide));
  EXPECT_FALSE(leaves_out(scute::core::fence_site::repair));
}

}  // namespace
