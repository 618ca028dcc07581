// SPDX-License-Identifier: BSD-3-Clause
// A pool of engine spec whose process was killed, looked at by a session that only reads. The
// records that its recovery appends to the log are in private memory, and count as no damage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "support/child.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

// Large overwrites have chunks lent to the log, which a recovery takes back if a kill comes
// between.
class spec_read_only : public testing::TestWithParam<scratch::where> {};

TEST_P(spec_read_only, CheckOfAKilledPoolFindsNothing) {
  random_source random(test_seed());
  uint64_t recovered = 0;
  for (int round = 0; round < (GetParam() == scratch::memory ? 100 : 30) && !HasFailure();
       ++round) {
    pool_file f(GetParam());
    f.create(options(8 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC}));
    f.close();
    {
      int begun[2];
      ASSERT_EQ(::pipe(begun), 0);
      child writer([&] {
        f.open();
        for (uint64_t k = 0;; ++k) {
          if (k == 1) {
            ASSERT_EQ(::write(begun[1], "", 1), 1);
          }
          const uint64_t size = 600000 + k % 7 * 100000;
          const scute_oid oid = f.alloc(pattern(k, size));
          ASSERT_NE(oid, 0u) << scute_errormsg();
          f.overwrite(oid, pattern(k + 100, size));
          ASSERT_EQ(f.free(oid), SCUTE_OK);
          pause(std::chrono::milliseconds(k % 7 * 2));
        }
      });
      ::close(begun[1]);
      char byte = 0;
      EXPECT_EQ(::read(begun[0], &byte, 1), 1);
      ::close(begun[0]);
      pause(std::chrono::microseconds(random.between(0, 40000)));
      writer.end();
    }
    f.open(SCUTE_READONLY);
    std::vector<std::string> findings;
    EXPECT_EQ(f.check(false, &findings).damaged, 0u) << testing::PrintToString(findings);
    recovered += f.info().recovered;
  }
  EXPECT_GT(recovered, 0u);
}

// The same without luck: the process dies between lending and listing (ROOM-1).
TEST_P(spec_read_only, CheckOfAPoolWithUnlistedChunksFindsNothing) {
  pool_file f(GetParam());
  f.create(options(8 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC}));
  f.alloc(pattern(1, 5000));
  f.in().drain();
  ASSERT_EQ(f.in().heap->lend(f.in().s.lanes.front(), 2).size(), 2u);
  const bytes image = read_file(f.path);
  f.in().abandon();
  scute_close(f.pool);
  f.pool = nullptr;
  write_file(f.path, image);
  f.open(SCUTE_READONLY);
  std::vector<std::string> findings;
  EXPECT_EQ(f.check(false, &findings).damaged, 0u) << testing::PrintToString(findings);
  EXPECT_EQ(f.info().clean, 0);
}

INSTANTIATE_TEST_SUITE_P(Media, spec_read_only, testing::Values(scratch::memory, scratch::disk),
                         [](const auto& p) {
                           return p.param == scratch::memory ? "Memory" : "Disk";
                         });

}  // namespace
}  // namespace scute::test
