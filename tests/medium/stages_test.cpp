// SPDX-License-Identifier: BSD-3-Clause
// The stage clock: off it collects nothing, on it accounts for all the time between start and stop, and a
// transaction passes through the stages of its engine.
#include "medium/stages.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

using medium::stage;
using medium::stage_clock;
using medium::stage_scope;

uint64_t entered(const std::array<stage_clock::reading, medium::stages>& r, stage s) {
  return r[static_cast<size_t>(s)].entered;
}

TEST(stages, OffCollectsNothing) {
  {
    const stage_scope as(stage::seal);
  }
  stage_clock::start();
  const auto r = stage_clock::stop();
  {
    const stage_scope as(stage::seal);
  }
  EXPECT_EQ(entered(r, stage::seal), 0u);
  EXPECT_FALSE(stage_clock::on);
}

TEST(stages, OtherThreadsAreNotTimed) {
  stage_clock::start();
  std::thread([] { const stage_scope as(stage::fence); }).join();
  {
    const stage_scope as(stage::seal);
  }
  const auto r = stage_clock::stop();
  EXPECT_EQ(entered(r, stage::fence), 0u);
  EXPECT_EQ(entered(r, stage::seal), 1u);
}

TEST(stages, InnerScopesTakeTheirTimeAway) {
  stage_clock::start();
  const uint64_t begin = stage_clock::tick();
  {
    const stage_scope outer(stage::plan);
    const stage_scope inner(stage::data);
    const uint64_t until = stage_clock::tick() + 100000;
    while (stage_clock::tick() < until) {
    }
  }
  const uint64_t end = stage_clock::tick();
  const auto r = stage_clock::stop();
  EXPECT_EQ(entered(r, stage::data), 1u);
  EXPECT_EQ(entered(r, stage::plan), 2u);  // and once more when the inner one ended
  const uint64_t sum = std::accumulate(r.begin(), r.end(), uint64_t{0},
                                       [](uint64_t n, const auto& x) { return n + x.ticks; });
  EXPECT_GE(sum, end - begin);
  EXPECT_GT(r[static_cast<size_t>(stage::data)].ticks, r[static_cast<size_t>(stage::plan)].ticks);
}

TEST(stages, OfATransaction) {
  for (const scute_engine engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE}) {
    scute_options o = options();
    o.engine = engine;
    pool_file f;
    f.create(o);
    const scute_oid oid = f.alloc(pattern(1, 300));
    f.overwrite(oid, pattern(2, 300));
    stage_clock::start();
    f.overwrite(oid, pattern(3, 300));
    const auto r = stage_clock::stop();
    for (const stage s : {stage::begin, stage::open, stage::seal, stage::plan, stage::data,
                          stage::parity, stage::fence, stage::end})
      EXPECT_GE(entered(r, s), 1u) << medium::stage_names[static_cast<size_t>(s)];
    EXPECT_EQ(entered(r, stage::log) != 0, engine == SCUTE_ENGINE_REDO);
    EXPECT_EQ(entered(r, stage::allocate), 0u);
  }
}

}  // namespace
}  // namespace scute::test
