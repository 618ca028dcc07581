// SPDX-License-Identifier: BSD-3-Clause
// The stage clock: off it collects nothing, on it accounts for all the time between start and stop,
// and a transaction passes through the stages of its engine.
#include "core/medium/cost_clock.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

using medium::cost_clock;
using medium::cost_part;
using medium::cost_scope;

uint64_t entered(const std::array<cost_clock::reading, medium::cost_parts>& r, cost_part s) {
  return r[static_cast<size_t>(s)].entered;
}

TEST(stages, OffCollectsNothing) {
  {
    const cost_scope as(cost_part::seal);
  }
  cost_clock::start();
  const auto r = cost_clock::stop();
  {
    const cost_scope as(cost_part::seal);
  }
  EXPECT_EQ(entered(r, cost_part::seal), 0u);
  EXPECT_FALSE(cost_clock::on);
}

TEST(stages, OtherThreadsAreNotTimed) {
  cost_clock::start();
  std::thread([] { const cost_scope as(cost_part::fence); }).join();
  {
    const cost_scope as(cost_part::seal);
  }
  const auto r = cost_clock::stop();
  EXPECT_EQ(entered(r, cost_part::fence), 0u);
  EXPECT_EQ(entered(r, cost_part::seal), 1u);
}

TEST(stages, InnerScopesTakeTheirTimeAway) {
  cost_clock::start();
  const uint64_t begin = cost_clock::tick();
  {
    const cost_scope outer(cost_part::plan);
    const cost_scope inner(cost_part::data);
    const uint64_t until = cost_clock::tick() + 100000;
    while (cost_clock::tick() < until) {
    }
  }
  const uint64_t end = cost_clock::tick();
  const auto r = cost_clock::stop();
  EXPECT_EQ(entered(r, cost_part::data), 1u);
  EXPECT_EQ(entered(r, cost_part::plan), 2u);  // and again when the inner one ended
  const uint64_t sum = std::accumulate(r.begin(), r.end(), uint64_t{0},
                                       [](uint64_t n, const auto& x) { return n + x.ticks; });
  EXPECT_GE(sum, end - begin);
  EXPECT_GT(r[static_cast<size_t>(cost_part::data)].ticks,
            r[static_cast<size_t>(cost_part::plan)].ticks);
}

TEST(stages, OfATransaction) {
  for (const scute_engine engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE}) {
    scute_options o = options();
    o.engine = engine;
    pool_file f;
    f.create(o);
    const scute_oid oid = f.alloc(pattern(1, 300));
    f.overwrite(oid, pattern(2, 300));
    cost_clock::start();
    f.overwrite(oid, pattern(3, 300));
    const auto r = cost_clock::stop();
    for (const cost_part s : {cost_part::begin, cost_part::open, cost_part::seal, cost_part::plan,
                              cost_part::data, cost_part::parity, cost_part::fence, cost_part::end})
      EXPECT_GE(entered(r, s), 1u) << medium::cost_part_names[static_cast<size_t>(s)];
    EXPECT_EQ(entered(r, cost_part::log) != 0, engine == SCUTE_ENGINE_REDO);
    EXPECT_EQ(entered(r, cost_part::allocate), 0u);
  }
}

}  // namespace
}  // namespace scute::test
