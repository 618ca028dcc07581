// SPDX-License-Identifier: BSD-3-Clause
// The power off at every moment of a persist-on-write store.
#include <gtest/gtest.h>

#include "scenarios.hpp"

namespace scute::testing {
namespace {

class Explored : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(, Explored, ::testing::Range<size_t>(0, pow_scenarios().size()),
                         [](const auto& p) {
                           std::string name = pow_scenarios()[p.param].name;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST_P(Explored, IsSound) {
  const auto& entry = pow_scenarios()[GetParam()];
  explore_options how;
  how.states = 6000;
  how.eadr = GetParam() % 3 == 2;
  const exploration r = explore(entry.make(), how);
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_GT(r.states, 200U);
  std::printf("%s: %llu states, %llu recrashed, %llu killed, %llu damaged, %.1f s\n",
              entry.name.c_str(), static_cast<unsigned long long>(r.states),
              static_cast<unsigned long long>(r.recrashed),
              static_cast<unsigned long long>(r.killed),
              static_cast<unsigned long long>(r.damaged), r.seconds);
}

}  // namespace
}  // namespace scute::testing
