// SPDX-License-Identifier: BSD-3-Clause
// The power off at every moment of a file that comes under the shield, is changed, and grows
// (MAKE-1, SLICE-1, IDENT-3, SPAN-2, SPAN-3, FOREIGN-4).
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

#include "scenarios.hpp"

namespace scute::testing {
namespace {

class Explored : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(, Explored, ::testing::Range<size_t>(0, foreign_scenarios().size()),
                         [](const auto& p) {
                           std::string name = foreign_scenarios()[p.param].name;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST_P(Explored, IsSound) {
  // SCUTE_TEST_STATES=20000 explores more of them.
  const char* const wanted = std::getenv("SCUTE_TEST_STATES");
  explore_options how;
  how.states = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1000;
  how.faults = false;
  const exploration r = explore(foreign_scenarios()[GetParam()].make(), how);
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_GT(r.states, 200U);
}

}  // namespace
}  // namespace scute::testing
