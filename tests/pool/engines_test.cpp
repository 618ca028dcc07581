// SPDX-License-Identifier: BSD-3-Clause
// Which engine SCUTE_ENGINE_AUTO stands for, by protection and by where the pool is.
#include "core/layout/engines.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/layout/geometry.hpp"
#include "support/pool_file.hpp"

namespace scute::core::pool {
namespace {

constexpr scute_protection levels[] = {SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP,
                                       SCUTE_PROTECT_MLPC};

TEST(engines, SpecIsFirstOnDisks) {
  for (const scute_protection p : levels) {
    scute_options o = test::options(test::mib, {p, SCUTE_ENGINE_AUTO});
    o.engine = SCUTE_ENGINE_AUTO;
    EXPECT_EQ(choose_engine(o, true).id, SCUTE_ENGINE_SPEC) << p;
    EXPECT_EQ(choose_engine(o, false).id,
              p == SCUTE_PROTECT_MLPC ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_REDO)
        << p;
  }
}

TEST(engines, NoneIsFirstWhereTheProtectionDoesNotSuffice) {
  std::vector<engine_facts> all(engines().begin(), engines().end());
  for (engine_facts& e : all) e.first_on_disks = e.id == SCUTE_ENGINE_LOGFREE;
  EXPECT_EQ(automatic_engine(all, SCUTE_PROTECT_MLP, true).id, SCUTE_ENGINE_REDO);
}

}  // namespace
}  // namespace scute::core::pool
