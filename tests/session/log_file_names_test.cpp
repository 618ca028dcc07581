// SPDX-License-Identifier: BSD-3-Clause
// LOGFILE-2: names at which there is no log, of a pool whose writer was killed. No caller takes
// the pool for a missing one and creates it again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <scute/scute.hpp>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

scute::options named_options() {
  scute::options o;
  o.size = 2 * mib;
  o.engine = scute::engine::spec;
  o.medium = scute::medium::file;
  o.lanes = 4;
  return o;
}

class without_log : public testing::Test {
 protected:
  without_log() : f(scratch::disk), log(f.path + ".log") {
    scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
    o.medium = SCUTE_MEDIUM_FILE;
    o.lanes = 4;
    f.create(o);
    oid = f.alloc(pattern(1, 300));
    f.in().abandon();
    f.close();
    fs::rename(log, log + ".kept");
    before = read_file(f.path);
  }
  void expect_refused(const scute::options& how) {
    try {
      scute::pool::open_or_create(f.path, how);
      ADD_FAILURE() << "it was opened";
    } catch (const scute::error& e) {
      EXPECT_EQ(e.which(), scute::errc::corrupt);
      EXPECT_THAT(e.what(), HasSubstr(log + " is missing"));
    }
    EXPECT_EQ(read_file(f.path), before);
  }

  pool_file f;
  const std::string log;
  scute_oid oid = 0;
  bytes before;
};

TEST_F(without_log, IsNotMadeAgain) {
  expect_refused(named_options());
  EXPECT_EQ(f.dir.count(), 2U);
  fs::rename(log + ".kept", log);
  SCUTE_OKAY(f.try_open());
  EXPECT_EQ(f.read(oid), pattern(1, 300));
}

TEST_F(without_log, ALinkToNowhereIsNoLog) {
  ASSERT_EQ(::symlink("nowhere", log.c_str()), 0);
  expect_refused(named_options());
  EXPECT_TRUE(fs::is_symlink(log));
}

// LOGFILE-6: bytes after the last whole chunk, as a crash in a growth may leave them, are not taken
// for zeros.
TEST_F(without_log, BytesAfterItsEndAreRemoved) {
  fs::rename(log + ".kept", log);
  const bytes content = read_file(log);
  bytes longer = content;
  const bytes noise = pattern(3, 12288);
  longer.insert(longer.end(), noise.begin(), noise.end());
  write_file(log, longer);
  SCUTE_OKAY(f.try_open(SCUTE_READONLY));
  EXPECT_EQ(f.read(oid), pattern(1, 300));
  f.close();
  EXPECT_EQ(read_file(log), longer);
  SCUTE_OKAY(f.try_open());
  EXPECT_EQ(f.read(oid), pattern(1, 300));
  EXPECT_EQ(fs::file_size(log), content.size());
}

// Neither a folder nor an unreadable file is a log; the error of each says so.
TEST_F(without_log, AFolderIsNoLog) {
  fs::create_directory(log);
  SCUTE_FAILS(SCUTE_E_FORMAT, f.try_open());
  EXPECT_THAT(scute_errormsg(), HasSubstr(log));
  f.pool = nullptr;
  EXPECT_EQ(read_file(f.path), before);
}

// A link to the log is the log, and a link to the pool has the log next to the pool.
TEST_F(without_log, LinksAreFollowed) {
  ASSERT_EQ(::symlink((log + ".kept").c_str(), log.c_str()), 0);
  SCUTE_OKAY(f.try_open());
  EXPECT_EQ(f.read(oid), pattern(1, 300));
  f.overwrite(oid, pattern(2, 300));
  f.in().abandon();
  f.close();
  EXPECT_TRUE(fs::is_symlink(log));
  const std::string link = f.dir.file("link");
  ASSERT_EQ(::symlink(f.path.c_str(), link.c_str()), 0);
  scute_options o = opening();
  SCUTE_OKAY(scute_open(link.c_str(), &o, &f.pool));
  EXPECT_EQ(f.read(oid), pattern(2, 300));
  EXPECT_FALSE(fs::exists(link + ".log"));
}

}  // namespace
}  // namespace scute::test
