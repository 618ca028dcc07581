// SPDX-License-Identifier: BSD-3-Clause
// A pool on a disk with engine spec has its log in a file of its own (LOGFILE-1 to LOGFILE-6).
// The tests open pools whose log is missing, foreign, older, cut short or damaged, and look at
// the pool and at the log's records.
#include "session/log_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/child.hpp"
#include "support/page.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t heads = 2 * page;

TEST(log_file, IsMadeWithThePoolAndOpenedWithIt) {
  for (const auto p : {SCUTE_PROTECT_NONE, SCUTE_PROTECT_MLPC}) {
    disk_pool f(on_disk(p));
    EXPECT_EQ(f.dir.count(), 2U) << "the pool and its log";
    struct stat pool{}, log{};
    ASSERT_EQ(::stat(f.path.c_str(), &pool), 0);
    ASSERT_EQ(::stat(f.log.c_str(), &log), 0);
    EXPECT_EQ(pool.st_mode, log.st_mode);
    EXPECT_GE(log.st_blocks * 512, log.st_size) << "every block is there before it is needed";
    f.change(1);
    f.kill();
    f.open();
    f.expect_last();
    f.change(2);
    f.close();
    f.open();
    f.expect_last();
    EXPECT_EQ(f.dir.count(), 2U);
  }
}

TEST(log_file, CommitsOfKilledProcessesAreThere) {
  disk_pool f;
  f.close();
  for (unsigned round = 1; round <= 8; ++round) {
    int reported[2];
    ASSERT_EQ(::pipe(reported), 0);
    {
      child c([&] {
        f.open();
        for (unsigned k = 0;; ++k) {
          f.change(round * 100000 + k);
          if (::write(reported[1], &k, sizeof k) != sizeof k) return;
        }
      });
      ::close(reported[1]);
      unsigned k = 0;
      while (k < round * 7)
        if (::read(reported[0], &k, sizeof k) != sizeof k) FAIL();
      c.end();
      unsigned more = 0;
      while (::read(reported[0], &more, sizeof more) == sizeof more) k = more;
      f.last = round * 100000 + k;
    }
    ::close(reported[0]);
    f.open();
    for (unsigned i = 0; i < 4; ++i) {
      // The one that was under way may be there as well.
      const bytes got = f.read(f.objects[i]);
      if (got != pattern(f.last * 10 + i, got.size())) {
        EXPECT_EQ(got, pattern((f.last + 1) * 10 + i, got.size()));
      }
    }
    f.expect_sound();
    f.close();
  }
}

// LOGFILE-2
TEST(log_file, AnUncleanPoolIsOpenedWithItsOwnLogOnly) {
  disk_pool f, other;
  f.change(1);
  const bytes early = read_file(f.log);
  f.close();
  const bytes closed_log = read_file(f.log);
  f.open();
  f.change(2);
  f.kill();
  const bytes pool = read_file(f.path), log = read_file(f.log);
  f.open();
  f.change(3);
  const bytes late = read_file(f.log);
  f.close();
  other.change(1);
  other.kill();
  const bytes foreign = read_file(other.log);

  struct bad_log {
    const char* what;
    bytes content;
    scute_error code;
    const char* words;
  };
  bytes cut = log, no_heads = log, noise = pattern(7, log.size());
  cut.resize(log.size() - page);
  std::fill_n(no_heads.begin(), heads, 0);
  const bad_log all[] = {{"older", early, SCUTE_E_CORRUPT, "older than the pool"},
                         {"older and closed", closed_log, SCUTE_E_CORRUPT, "older than the pool"},
                         {"newer", late, SCUTE_E_CORRUPT, "newer than the pool"},
                         {"foreign", foreign, SCUTE_E_CORRUPT, "another pool"},
                         {"cut short", cut, SCUTE_E_TRUNCATED, "truncated"},
                         {"without heads", no_heads, SCUTE_E_CORRUPT, "damaged"},
                         {"noise", noise, SCUTE_E_CORRUPT, "damaged"},
                         {"empty", {}, SCUTE_E_CORRUPT, "damaged"}};
  for (const bad_log& bad : all) {
    SCOPED_TRACE(bad.what);
    write_file(f.path, pool);
    write_file(f.log, bad.content);
    f.expect_refused(bad.code, bad.words);
  }
  ::unlink(f.log.c_str());
  f.expect_refused(SCUTE_E_CORRUPT, "missing");
  // And with the right one everything is there.
  write_file(f.log, log);
  f.last = 2;
  f.open();
  f.expect_last();
}

// LOGFILE-2
TEST(log_file, OfAClosedPoolIsMadeAgain) {
  disk_pool f, other;
  f.change(1);
  const bytes early = read_file(f.log);
  f.close();
  f.open();
  f.change(2);
  f.close();
  const bytes pool = read_file(f.path), log = read_file(f.log);
  other.kill();
  bytes cut = log, no_heads = log;
  cut.resize(3 * page);
  std::fill_n(no_heads.begin(), heads, 0);
  struct case_of {
    bytes content;
    bool may_be_someones;
  };
  const case_of all[] = {
      {early, true}, {cut, false}, {no_heads, true}, {read_file(other.log), true}, {{}, true}};
  for (const case_of& c : all) {
    write_file(f.path, pool);
    write_file(f.log, c.content);
    SCUTE_OKAY(f.open_how(SCUTE_READONLY));  // needs none
    f.expect_last();
    f.close();
    EXPECT_EQ(read_file(f.log), c.content);
    f.open();
    f.expect_last();
    f.change(f.last + 1);
    f.kill();
    f.open();
    f.expect_last();
    f.last = 2;
    f.close();
    EXPECT_EQ(fs::exists(f.log + ".foreign"), c.may_be_someones);
    if (c.may_be_someones) {
      EXPECT_EQ(read_file(f.log + ".foreign"), c.content);
      // Which is not written over.
      write_file(f.path, pool);
      write_file(f.log, {});
      f.open();
      f.close();
      EXPECT_EQ(read_file(f.log + ".foreign"), c.content);
      EXPECT_EQ(read_file(f.log + ".foreign.2"), bytes{});
      ::unlink((f.log + ".foreign.2").c_str());
    }
    ::unlink((f.log + ".foreign").c_str());
  }
  write_file(f.path, pool);
  ::unlink(f.log.c_str());
  f.open();
  f.expect_last();
  EXPECT_TRUE(fs::exists(f.log));
}

// Every page of it alone may be lost: two copies of everything.
TEST(log_file, OneDamagedPageCostsNothing) {
  disk_pool f;
  f.change(1);
  f.change(2);
  f.kill();
  const bytes pool = read_file(f.path), log = read_file(f.log);
  uint64_t used = 0;
  for (size_t at = 0; at < log.size(); at += page) {
    bytes bad = log;
    if (std::all_of(bad.begin() + static_cast<long>(at), bad.begin() + static_cast<long>(at + page),
                    [](unsigned char b) { return b == 0; }))
      continue;
    ++used;
    SCOPED_TRACE(at);
    const bytes noise = pattern(at, page);
    std::copy(noise.begin(), noise.end(), bad.begin() + static_cast<long>(at));
    write_file(f.path, pool);
    write_file(f.log, bad);
    f.open();
    f.expect_last();
    f.close();
  }
  EXPECT_GE(used, 6U);
}

TEST(log_file, ChecksSeeADamagedHeadAndRepairIt) {
  disk_pool f;
  f.change(1);
  EXPECT_EQ(f.info().log_file, fs::file_size(f.log));
  const bytes noise = pattern(1, 128);
  write_at(f.log, page, noise.data(), noise.size());
  EXPECT_EQ(f.check(false).damaged, 1U);
  EXPECT_EQ(f.check(true).repaired, 1U);
  EXPECT_EQ(f.check(false).damaged, 0U);
  f.kill();
  f.open();
  f.expect_last();
}

// A reader of a pool gets the same report of how full its log is as a process that has it open.
TEST(log_file, ReportsHowFullItIsToReaders) {
  pool_file f;
  scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  f.create(o);
  f.in().idle.stop();
  const auto reported = [&](const std::string& path) {
    scute_pool* p = nullptr;
    scute_options read = o;
    read.flags = SCUTE_READONLY;
    EXPECT_EQ(SCUTE_OK, scute_open(path.c_str(), &read, &p)) << scute_errormsg();
    scute_info i{};
    i.struct_size = sizeof i;
    EXPECT_EQ(SCUTE_OK, scute_pool_info(p, &i));
    scute_close(p);
    return i;
  };
  f.alloc(pattern(1, 300));
  SCUTE_OKAY(scute_drain(f));
  for (uint64_t k = 0; k < 20; ++k) f.alloc(pattern(k, 1000));
  const scute_info open = f.info();
  EXPECT_GT(open.log_used, 0u);
  // As a kill leaves both.
  pool_file copy;
  for (const char* of : {"", ".log"}) write_file(copy.path + of, read_file(f.path + of));
  const scute_info killed = reported(copy.path);
  EXPECT_EQ(killed.log_cap, open.log_cap);
  EXPECT_EQ(killed.log_truncation_point, open.log_truncation_point);
  EXPECT_GT(killed.log_used, 0u);
  f.close();
  const scute_info closed = reported(f.path);
  EXPECT_EQ(closed.log_cap, open.log_cap);
  EXPECT_EQ(closed.log_used, 0u);
  EXPECT_GT(closed.log_truncation_point, open.log_truncation_point);
}

// A transaction larger than the log makes the file longer, for a while.
TEST(log_file, GrowsForOneTransaction) {
  disk_pool f;
  const uint64_t before = fs::file_size(f.log);
  std::vector<scute_oid> many;
  for (unsigned i = 0; i < 12; ++i) many.push_back(f.alloc(pattern(i, 40000)));
  {
    transaction tx(f);
    for (unsigned i = 0; i < 12; ++i) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_open(tx, many[i], &p));
      std::memcpy(p, pattern(100 + i, 40000).data(), 40000);
    }
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_GT(fs::file_size(f.log), before);
  f.kill();
  f.open();
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(f.read(many[i]), pattern(100 + i, 40000));
  for (unsigned i = 0; i < 20; ++i) f.change(i + 1);
  wait_until([&] { return fs::file_size(f.log) == before; });
  f.expect_last();
}

}  // namespace
}  // namespace scute::test
