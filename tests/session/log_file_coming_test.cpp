// SPDX-License-Identifier: BSD-3-Clause
// LOGFILE-2: a log of another pool, in use, at the name that a new log has before its pool has
// one. If nothing was ever appended to it, it is of a creation that was killed, and goes.
// Otherwise a pool may need it, unless its pool is being replaced.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;

constexpr long chunks = 16384;  // where the first one is (docs/reference/format.md)

class coming_log : public testing::Test {
 protected:
  coming_log() : f(scratch::disk), log(f.path + ".log"), coming(log + ".new") {
    o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
    o.medium = SCUTE_MEDIUM_FILE;
    o.lanes = 4;
    pool_file other(scratch::disk);
    other.create(o);
    other.alloc(pattern(2, 300));
    other.in().abandon();
    other.close();
    used = unused = read_file(other.path + ".log");
    std::fill(unused.begin() + chunks, unused.end(), 0);
  }
  void create_pool() {
    f.create(o);
    oid = f.alloc(pattern(1, 300));
    f.close();
  }
  void expect_pool() {
    SCUTE_OKAY(f.try_open());
    EXPECT_EQ(f.read(oid), pattern(1, 300));
    f.close();
  }
  bool is_set_aside() const { return fs::exists(coming + ".foreign"); }

  pool_file f;
  const std::string log, coming;
  scute_options o;
  scute_oid oid = 0;
  bytes used, unused;
};

TEST_F(coming_log, ThatNothingWasAppendedToGoes) {
  write_file(coming, unused);
  create_pool();
  EXPECT_EQ(f.dir.count(), 2U);
  write_file(coming, unused);
  expect_pool();
  EXPECT_EQ(f.dir.count(), 2U);
}

TEST_F(coming_log, WithSomethingInItIsSetAside) {
  write_file(coming, used);
  create_pool();
  ASSERT_TRUE(is_set_aside());
  EXPECT_EQ(read_file(coming + ".foreign"), used);
  ::unlink((coming + ".foreign").c_str());
  // One byte, in the last line, is enough.
  bytes little = unused;
  little.back() = 1;
  write_file(coming, little);
  expect_pool();
  ASSERT_TRUE(is_set_aside());
  EXPECT_EQ(read_file(coming + ".foreign"), little);
}

TEST_F(coming_log, OfAPoolThatIsReplacedGoes) {
  create_pool();
  // A crash kept the log of the pool that is there now from its name, and it was used.
  SCUTE_OKAY(f.try_open());
  f.alloc(pattern(3, 300));
  f.in().abandon();
  f.close();
  fs::rename(log, coming);
  o.flags |= SCUTE_OVERWRITE;
  create_pool();
  EXPECT_FALSE(is_set_aside());
  EXPECT_EQ(f.dir.count(), 2U);
  expect_pool();
}

}  // namespace
}  // namespace scute::test
