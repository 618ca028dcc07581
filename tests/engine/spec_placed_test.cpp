// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: an object that was placed lies where the log has records of an older one
// (SPEC-2, SPEC-4, TABLE-3). A range in place of it needs an undo record, whatever the log has of
// its granules.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "support/child.hpp"
#include "support/pool_file.hpp"
#include "support/power_failure.hpp"

namespace scute::test {
namespace {

class spec_placed : public testing::TestWithParam<scute_protection> {
 protected:
  static constexpr uint64_t size = 20'000, at = 4096, length = 4096;

  spec_placed() {
    scute_options o = options(32 * mib, {GetParam(), SCUTE_ENGINE_SPEC});
    o.chunk_size = 64 * kib;  // slots of more than prewrite_min
    pool_.create(o);
  }
  // The log gets records of an object, and another one is placed in its slot. No checkpoint comes
  // between.
  void replace(uint64_t first_size, uint64_t second_size) {
    pool_.in().idle.stop();
    const scute_oid first = pool_.alloc(bytes(first_size, 'a'));
    pool_.overwrite(first, bytes(first_size, 'A'));
    SCUTE_OKAY(pool_.free(first));
    placed_ = pool_.alloc(bytes(second_size, 'B'));
    ASSERT_EQ(pool_.offset_of(placed_), pool_.offset_of(first));
  }
  void store_in_place(scute_tx* tx, uint64_t from, uint64_t n) {
    void* to = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, placed_, from, n, &to));
    std::memset(to, 'X', n);
  }
  void expect_whole(uint64_t n) {
    EXPECT_EQ(pool_.read(placed_), bytes(n, 'B'));
    pool_.expect_sound();
  }

  pool_file pool_;
  scute_oid placed_ = 0;
};

TEST_P(spec_placed, SurvivesAKillBetweenAStoreInPlaceAndItsCommit) {
  // Slots are taken in the same order again, so the parent knows where it is.
  placed_ = pool_.alloc(bytes(size, 'x'));
  SCUTE_OKAY(pool_.free(placed_));
  pool_.close();
  const scute_oid slot = placed_;
  child one([&] {
    pool_.open();
    replace(size, size);
    EXPECT_EQ(placed_, slot);
    scute_tx* tx = nullptr;
    SCUTE_OKAY(scute_tx_begin(pool_, &tx));
    store_in_place(tx, at, length);
    if (!HasFailure()) ::raise(SIGKILL);
  });
  const int status = one.wait();
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  pool_.open();
  expect_whole(size);
}

TEST_P(spec_placed, SurvivesAPowerFailureAfterARangeWasAborted) {
  replace(size, size);
  transaction tx(pool_);
  store_in_place(tx, at, length);
  SCUTE_OKAY(tx.abort());
  // The lines with the aborted bytes were evicted, those with the old ones were not.
  bytes image = read_file(pool_.path);
  const auto begin = image.begin() + static_cast<long>(pool_.offset_of(placed_) + at);
  std::fill(begin, begin + length, 'X');
  come_up(pool_, image, 0);
  expect_whole(size);
}

// The last granule of the placed object was the inside of the one before.
TEST_P(spec_placed, SurvivesInAGranuleThatItTouches) {
  const scute_oid probe = pool_.alloc(bytes(size, 'x'));
  const uint64_t end = pool_.offset_of(probe) + size;
  SCUTE_OKAY(pool_.free(probe));
  const uint64_t n = size + 33 - end % 32;
  replace(n + 64, n);
  transaction tx(pool_);
  store_in_place(tx, n - 1, 1);
  bytes image = read_file(pool_.path);
  come_up(pool_, image, 0);
  tx.tx = nullptr;  // it ended with its pool
  expect_whole(n);
}

// A placed object where nothing was logged, with a later record above it, stays as cheap as it
// was.
TEST_P(spec_placed, NeedsNoUndoRecordOnceTheLogHasItsBytes) {
  replace(size, size);
  pool_.overwrite(placed_, bytes(size, 'C'));
  const uint64_t before = pool_.stats().fences;
  transaction tx(pool_);
  store_in_place(tx, at, length);
  EXPECT_EQ(pool_.stats().fences, before);
  SCUTE_OKAY(tx.abort());
  EXPECT_EQ(pool_.read(placed_), bytes(size, 'C'));
}

std::string level_name(const testing::TestParamInfo<scute_protection>& each) {
  constexpr const char* names[] = {"none", "ml", "mlp", "mlpc"};
  return names[each.param];
}

INSTANTIATE_TEST_SUITE_P(Levels, spec_placed,
                         testing::Values(SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP,
                                         SCUTE_PROTECT_MLPC),
                         level_name);

}  // namespace
}  // namespace scute::test
