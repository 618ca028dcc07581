// SPDX-License-Identifier: BSD-3-Clause
// Overwrites of the size that scute_overwrite_max() promises succeed, in pools that fill up, with
// each engine.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class overwrite_max : public testing::TestWithParam<pool_kind> {
 protected:
  uint64_t now() {
    uint64_t n = 0;
    SCUTE_OKAY_E(scute_overwrite_max(f, &n));
    return n;
  }
  // A range of this length that begins anywhere.
  void overwrite(scute_oid oid, uint64_t at, uint64_t n, uint64_t key) {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oid, at, n, &p));
    std::memcpy(p, pattern(key, n).data(), n);
    SCUTE_OKAY(tx.commit());
  }
  pool_file f;
};

TEST_P(overwrite_max, IsKept) {
  f.create(4 * mib, GetParam());
  const uint64_t size = scute_alloc_max(f) * 3 / 5;
  const scute_oid large = f.alloc(pattern(1, size));
  ASSERT_NE(large, 0u) << scute_errormsg();
  uint64_t key = 2, most = 0;
  do {
    const uint64_t n = std::min(now(), size - 100);
    most = std::max(most, n);
    EXPECT_GE(n, 700u);
    overwrite(large, key * 37 % 100, n, key);
    ASSERT_FALSE(HasFailure()) << "with " << key << " objects, " << n << " bytes";
  } while (f.alloc(pattern(++key, 30000)) != 0);
  EXPECT_GT(most, 100000u);
  EXPECT_GT(key, 10u);
}

// Chunks of small objects that are all free again.
TEST_P(overwrite_max, CountsWhatWasFreed) {
  f.create(4 * mib, GetParam());
  const uint64_t at_first = now();
  std::vector<scute_oid> all;
  for (scute_oid oid = 0; (oid = f.alloc(pattern(1, 50))) != 0;) all.push_back(oid);
  for (const scute_oid oid : all) ASSERT_EQ(f.free(oid), SCUTE_OK);
  f.in().drain();
  EXPECT_GT(now(), at_first / 2);
  const scute_oid large = f.alloc(pattern(2, scute_alloc_max(f) / 3));
  ASSERT_NE(large, 0u) << scute_errormsg();
  overwrite(large, 11, std::min(now(), scute_alloc_max(f) / 3 - 11), 3);
}

INSTANTIATE_TEST_SUITE_P(Kinds, overwrite_max,
                         testing::Values(pool_kind(SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE),
                                         pool_kind(SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC),
                                         pool_kind(SCUTE_PROTECT_ML, SCUTE_ENGINE_SPEC),
                                         pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_SPEC),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC, 3)));

}  // namespace
}  // namespace scute::test
