// SPDX-License-Identifier: BSD-3-Clause
// Sequences of lanes that have come far: a block's owner is known by 37 bits of one (REDO-6).
#include <gtest/gtest.h>

#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

TEST(sequences, TheNextLaneGetsAHigherSequence) {
  for (const uint64_t far : {uint64_t{1} << 36, (uint64_t{1} << 37) - 2, uint64_t{1} << 37,
                             (uint64_t{5} << 37) + 77, (uint64_t{1} << 44) - 1}) {
    pool_file f;
    scute_options o = options(mib, {SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO});
    o.lanes = 2;
    f.create(o);
    const scute_oid oid = f.alloc(pattern(1, 500));
    auto& lanes = f.in().s.lanes;
    const auto mine = static_cast<uint32_t>(scute_thread_lane(f));
    lanes[mine].sequence = far;
    for (int round = 0; round < 3; ++round) {
      f.overwrite(oid, pattern(2, 500));
      const uint64_t before = lanes[mine].sequence;
      EXPECT_GT(before, far);
      uint32_t other = mine;
      std::thread([&] {
        f.overwrite(oid, pattern(3, 500));
        other = static_cast<uint32_t>(scute_thread_lane(f));
      }).join();
      ASSERT_NE(other, mine);
      EXPECT_GT(lanes[other].sequence, before);
    }
  }
}

}  // namespace
}  // namespace scute::test
