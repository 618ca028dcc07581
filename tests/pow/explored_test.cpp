// SPDX-License-Identifier: BSD-3-Clause
// The power off at every moment of a persist-on-write store.
#include <gtest/gtest.h>

#include <cstdlib>

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
  // SCUTE_TEST_STATES=100000 explores more of them.
  const char* const wanted = std::getenv("SCUTE_TEST_STATES");
  for (const bool eadr : {false, true}) {
    explore_options how;
    how.states = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 2000;
    how.thorough = true;
    how.eadr = eadr;
    const exploration r = explore(entry.make(), how);
    EXPECT_TRUE(r.sound) << r.story;
    EXPECT_GT(r.states, 200U);
    EXPECT_GT(r.recrashed, 50U);
  }
}

}  // namespace
}  // namespace scute::testing
