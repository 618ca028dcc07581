// SPDX-License-Identifier: BSD-3-Clause
// The reference refuses states that no x86 machine leaves (PROG-1..PROG-3), and permits those that
// one does; and the scenarios are sound (SHIELD-2, SHIELD-5, SHIELD-8).
#include <gtest/gtest.h>

#include "scenarios.hpp"
#include "x86_program.hpp"

namespace scute::view_tests {
namespace {

class reference : public ::testing::Test {
 protected:
  static constexpr size_t bytes = 256;
  std::vector<std::byte> zeros = std::vector<std::byte>(bytes);
  x86_program p{zeros};
  uint64_t image[bytes / 8] = {};

  void store(uint64_t line, unsigned word, uint64_t value) { p.store(line, word, value); }
  void flush(unsigned thread, uint64_t line) { p.flush(thread, line, p.counts()[line]); }
  bool permitted() { return p.violation(std::as_bytes(std::span(image))).empty(); }
};

TEST_F(reference, FirstStoresOfALine) {
  store(0, 0, 1);
  store(0, 7, 2);
  EXPECT_TRUE(permitted());
  image[0] = 1;
  EXPECT_TRUE(permitted());
  image[7] = 2;
  EXPECT_TRUE(permitted());
  image[0] = 0;
  EXPECT_FALSE(permitted()) << "the second store without the first: a torn line";
}

TEST_F(reference, LinesAreInNoOrderByThemselves) {
  store(0, 0, 1);
  store(1, 0, 2);
  image[8] = 2;
  EXPECT_TRUE(permitted());
}

TEST_F(reference, AFenceOrders) {
  store(0, 0, 1);
  flush(0, 0);
  p.fence(0, false);  // by a locked instruction
  store(1, 0, 2);
  EXPECT_TRUE(permitted()) << "nothing of it, as if the power had failed sooner";
  image[8] = 2;
  EXPECT_FALSE(permitted()) << "the later one without the earlier";
  image[0] = 1;
  EXPECT_TRUE(permitted());
}

TEST_F(reference, AFenceOfAnotherThreadDoesNot) {
  store(0, 0, 1);
  flush(0, 0);
  p.fence(1, false);
  store(1, 0, 2);
  image[8] = 2;
  EXPECT_TRUE(permitted());
}

TEST_F(reference, AFlushSeesWhatWasThere) {
  flush(0, 0);
  store(0, 0, 1);
  p.fence(0, false);
  store(1, 0, 2);
  image[8] = 2;
  EXPECT_TRUE(permitted());
}

TEST_F(reference, APromiseIsKept) {
  store(0, 0, 1);
  flush(0, 0);
  p.fence(0, true);
  EXPECT_FALSE(permitted()) << "the fence has returned";
  image[0] = 1;
  EXPECT_TRUE(permitted());
}

TEST_F(reference, AWindowPromisesAtItsEnd) {
  store(0, 0, 1);
  flush(0, 0);
  p.fence(0, false);
  EXPECT_TRUE(permitted());
  p.promise(0);
  EXPECT_FALSE(permitted());
}

TEST_F(reference, AnMsyncPromises) {
  store(0, 0, 1);
  const auto began = p.begin_sync();
  store(0, 1, 2);
  p.end_sync(began, 0, 1);
  EXPECT_FALSE(permitted());
  image[0] = 1;
  EXPECT_TRUE(permitted());
}

TEST_F(reference, BytesFromNowhere) {
  image[3] = 9;
  EXPECT_FALSE(permitted());
}

TEST_F(reference, ADeathKeepsWhatWasFlushed) {
  store(0, 0, 1);
  const auto kept = p.counts();
  EXPECT_FALSE(p.survived(std::as_bytes(std::span(image)), kept).empty());
  image[0] = 1;
  EXPECT_TRUE(p.survived(std::as_bytes(std::span(image)), kept).empty());
}

TEST(scenarios, AreSound) {
  for (const auto& e : testing::view_scenarios()) {
    testing::explore_options how;
    how.states = 4000;
    how.repeat_command = "scute-explore '" + e.name + "' --only %s";
    const auto r = e.explore(how);
    EXPECT_TRUE(r.sound) << r.story;
    EXPECT_GE(r.states, how.states);
  }
}

}  // namespace
}  // namespace scute::view_tests
