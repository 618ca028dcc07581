// SPDX-License-Identifier: BSD-3-Clause
// A pool that is opened read-only is recovered in private memory; the file stays as the crash left
// it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

TEST(read_only, RecoveryLeavesTheFileAlone) {
  for (const auto medium : {SCUTE_MEDIUM_AUTO, SCUTE_MEDIUM_FILE}) {
    pool_file f;
    f.create();
    const scute_oid oid = f.alloc(pattern(1, 3000)), other = f.alloc(pattern(2, 40000));
    f.close();
    const pid_t child = ::fork();
    if (child == 0) {
      // Leaves two in-place ranges open, one of them with a chained undo entry, and dies.
      scute_tx* tx = nullptr;
      void* p = nullptr;
      bool good = f.try_open() == 0 && scute_tx_begin(f, &tx) == 0 &&
                  scute_tx_inplace(tx, oid, 10, 500, &p) == 0;
      if (good) std::memset(p, 7, 500);
      good = good && scute_tx_inplace(tx, other, 0, 40000, &p) == 0;
      if (good) std::memset(p, 7, 40000);
      ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    const bytes before = read_file(f.path);
    scute_options o = opening();
    o.medium = medium;
    o.flags = SCUTE_READONLY;
    for (int round = 0; round < 2; ++round) {
      SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
      EXPECT_EQ(f.info().clean, 0);
      EXPECT_TRUE(f.read(oid) == pattern(1, 3000));
      EXPECT_TRUE(f.read(other) == pattern(2, 40000));
      f.expect_sound();
      f.close();
      EXPECT_TRUE(read_file(f.path) == before);
    }
    f.open();
    EXPECT_EQ(f.info().clean, 0);
    EXPECT_TRUE(f.read(oid) == pattern(1, 3000));
    EXPECT_TRUE(f.read(other) == pattern(2, 40000));
    f.expect_sound();
    EXPECT_FALSE(read_file(f.path) == before);
  }
}

}  // namespace
}  // namespace scute::test
