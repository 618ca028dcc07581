// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/size_classes.hpp"

#include <gtest/gtest.h>

#include "core/heap/chunk_record.hpp"

namespace scute::core::heap {
namespace {

class size_class : public testing::TestWithParam<uint32_t> {};

TEST_P(size_class, SlotsAreWellFormed) {
  const size_classes classes(GetParam());
  for (int c = 0; c < classes.count(); ++c) {
    const uint32_t slot = classes.slot_size(c);
    EXPECT_GE(slot, 64u);
    EXPECT_EQ(slot % 32, 0u);  // no header straddles a line
    EXPECT_LE(slot, GetParam() / 2);
    if (c > 0) {
      EXPECT_GT(slot, classes.slot_size(c - 1));
    }
    EXPECT_EQ(classes.exact(slot), c);
    EXPECT_EQ(
        classes.exact(slot + 32) == size_classes::none || classes.slot_size(c + 1) == slot + 32,
        true);
    EXPECT_LE(pool::fragments_of(slot) * format::header_size + pool::payload_room(slot), slot);
    EXPECT_GE(pool::fragments_of(slot) * format::fragment_payload, pool::payload_room(slot));
    // The number of a slot is found from any place inside it by multiplication.
    chunk_record s{};
    s.reciprocal = chunk_record::reciprocal_of(slot);
    for (uint32_t at = 0; at < GetParam(); ++at) ASSERT_EQ(s.slot_of(at), at / slot);
  }
}

TEST_P(size_class, EverySizeGetsTheSmallestThatFits) {
  const size_classes classes(GetParam());
  const uint64_t largest = pool::payload_room(classes.slot_size(classes.count() - 1));
  for (uint64_t n = 1; n <= largest; ++n) {
    const int c = classes.of(n);
    ASSERT_NE(c, size_classes::none);
    ASSERT_GE(pool::payload_room(classes.slot_size(c)), n);
    if (c > 0) {
      ASSERT_LT(pool::payload_room(classes.slot_size(c - 1)), n);
    }
    // At most a quarter is wasted, except for the tiniest objects and the steps between fragments.
    if (n >= 256 && n <= 4096) {
      ASSERT_LE(classes.slot_size(c), n * 5 / 4 + 64 + 32);
    }
  }
  EXPECT_EQ(classes.of(largest + 1), size_classes::none);
  EXPECT_EQ(classes.of(UINT64_MAX / 2), size_classes::none);
}

INSTANTIATE_TEST_SUITE_P(ChunkSize, size_class,
                         testing::Values(16384u, 32768u, 65536u, 131072u, 262144u));

}  // namespace
}  // namespace scute::core::heap
