// SPDX-License-Identifier: BSD-3-Clause
// The power off at every moment of something that is kept in segments.
#include <gtest/gtest.h>

#include "segment_register.hpp"

namespace scute::testing {
namespace {

scenario_of<segment_register> numbers(redundancy how, mistake m = mistake::none) {
  scenario_of<segment_register> s("numbers",
                                  [=] { return std::make_unique<segment_register>(how, m); });
  s.observe([](segment_register& r) { return std::to_string(r.number()); });
  const auto set = [&](uint64_t n) {
    s.step("set to " + std::to_string(n), [n](segment_register& r) { r.set(n); });
  };
  set(1);
  set(2);
  s.step("the segment is full", [](segment_register& r) { r.fill(); });
  set(3);
  set(4);
  s.step("the segment is full", [](segment_register& r) { r.fill(); });
  set(5);
  set(6);
  return s;
}

explore_options states(uint64_t n) {
  explore_options o;
  o.states = n;
  return o;
}

class Explored : public ::testing::TestWithParam<redundancy> {};

INSTANTIATE_TEST_SUITE_P(, Explored,
                         ::testing::Values(redundancy::one_copy, redundancy::two_copies,
                                           redundancy::tracks),
                         [](const auto& p) {
                           return std::string(p.param == redundancy::one_copy     ? "OneCopy"
                                              : p.param == redundancy::two_copies ? "TwoCopies"
                                                                                  : "Tracks");
                         });

TEST_P(Explored, IsSound) {
  for (const bool eadr : {false, true}) {
    explore_options how = states(20000);
    how.eadr = eadr;
    const exploration r = explore(numbers(GetParam()), how);
    EXPECT_TRUE(r.sound) << r.story;
    EXPECT_GE(r.states, 5000U);
    EXPECT_GT(r.recrashed, 1000U);
  }
}

TEST_P(Explored, MistakesAreCaught) {
  for (const mistake m : {mistake::no_fence, mistake::not_again, mistake::over_the_new,
                          mistake::goes_on, mistake::one_session}) {
    const exploration r = explore(numbers(GetParam(), m), states(60000));
    EXPECT_FALSE(r.sound) << static_cast<int>(m);
  }
}

}  // namespace
}  // namespace scute::testing
