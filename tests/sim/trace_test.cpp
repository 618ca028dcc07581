// SPDX-License-Identifier: BSD-3-Clause
// Runs from recorded programs.
#include "feed/trace.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace scute::sim {
namespace {

const char* const plain = "i 0 1 63 63 63 63 63 63 62 62\n";

run::result play(const std::string& text, const char* scheme_name = "none") {
  run r(settings{}, scheme_name);
  std::istringstream in(text);
  replay(in, r);
  return r.results();
}

TEST(Trace, CountsWhatIsBetweenStartAndStop) {
  const std::string text = std::string(plain) + "m 2 0 0\n" + plain +
                           "r 100000000 8 l\nr 100000040 8 s  # comment\n\nb 4000 1 3ff0 3ff2\n" +
                           plain + "m 7 0 0\n" + plain + "m 8 0 0\n" + plain + "m 3 0 0\n" + plain;
  const run::result r = play(text);
  EXPECT_EQ(r.instructions, 3U);
  EXPECT_EQ(r.loads, 1U);
  EXPECT_EQ(r.stores, 1U);
  EXPECT_GT(r.ns, 0);
}

TEST(Trace, MistakesAreReported) {
  for (const char* wrong :
       {"x", "i 9 1 63 63 63 63 63 63 62 62", "i 0 1 63", "r 1000 8 l", "m 99 0 0", "m 0 0 0",
        "i 0 1 63 63 63 63 63 63 62 64", "i 0 1 63 63 63 63 63 63 62 62\nr 10 8 x",
        "i 0 1 63 63 63 63 63 63 62 62\nr 10 0 l", "b 4000", "b 4000 7 3ff0 3ff2"})
    EXPECT_THROW(play(wrong), std::runtime_error) << wrong;
}

// A transaction of one store: the scheme's log and data go to the memory.
TEST(Trace, TransactionsAreTheSchemes) {
  const std::string text = "m 1 10000000000 1000\nm 2 0 0\nm 4 0 0\n" + std::string(plain) +
                           "r 10000000000 8 s\nm 5 0 0\nm 3 0 0\n";
  EXPECT_EQ(play(text, "none").pm_lines, 0U);
  EXPECT_EQ(play(text, "no-log").pm_lines, 1U);
  // A record of 72 bytes: two lines, the second one again with the commit record; and the data.
  EXPECT_EQ(play(text, "ede").pm_lines, 4U);
  EXPECT_GT(play(text, "software-undo").ns, play(text, "ede").ns);
}

// RUN-1, RUN-2.
TEST(Trace, CoresTakeTurns) {
  run r(settings{}, "none");
  r.take(mark::start, 0, 0);
  operation op;
  op.cycles = 100;
  op.from[0] = op.to[0] = 1;
  for (int i = 0; i < 50; ++i) r.execute(op, {});
  EXPECT_EQ(r.take(mark::next_core, 3, 2), 1U) << "RUN-1";
  EXPECT_EQ(r.take(mark::next_core, 1, 2), 0U) << "RUN-1";
  r.take(mark::unlocked, 77, 0);
  const ticks released = r.on().cores[0].now();
  r.take(mark::run_on, 1, 0);
  r.take(mark::locked, 78, 0);
  EXPECT_LT(r.on().cores[1].now(), released);
  r.take(mark::locked, 77, 0);
  EXPECT_GE(r.on().cores[1].now(), released) << "RUN-2";
}

}  // namespace
}  // namespace scute::sim
