// SPDX-License-Identifier: BSD-3-Clause
// A pool on a disk with engine spec has its log in a file of its own (BESIDE-1 to BESIDE-6): what becomes of pools whose log is
// missing, foreign, older, newer, cut short or damaged; which names it may have; who else may have that name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "support/child.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr size_t page = 4096, heads = 2 * page, start = 4 * page;

scute_options on_disk(scute_protection p = SCUTE_PROTECT_MLPC) {
  scute_options o = options(2 * mib, {p, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  o.lanes = 4;
  return o;
}

class disk_pool : public pool_file {
 public:
  explicit disk_pool(const scute_options& o = on_disk())
      : pool_file(scratch::disk), log(path + ".log") {
    create(o);
    for (unsigned i = 0; i < 4; ++i) objects.push_back(alloc(pattern(i, 300 + i * 900)));
  }
  int open_how(uint32_t flags = 0) {
    scute_options o = on_disk();
    o.flags = flags;
    return scute_open(path.c_str(), &o, &pool);
  }
  void open() { SCUTE_OKAY(open_how()); }
  // As kill -9 does.
  void kill() {
    pool->in->abandon();
    close();
  }
  void change(unsigned by) {
    for (unsigned i = 0; i < 4; ++i) overwrite(objects[i], pattern(by * 10 + i, 300 + i * 900));
    last = by;
  }
  void expect_last() {
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(read(objects[i]), pattern(last * 10 + i, 300 + i * 900)) << i;
    expect_sound();
  }
  // The pool cannot be opened, says so, and nothing changes.
  void expect_refused(scute_error code, const char* words) {
    const bytes before = read_file(path), log_before = fs::exists(log) ? read_file(log) : bytes();
    for (const uint32_t flags : {0U, uint32_t{SCUTE_READONLY}}) {
      SCUTE_FAILS(code, open_how(flags));
      EXPECT_THAT(scute_errormsg(), HasSubstr(log));
      EXPECT_THAT(scute_errormsg(), HasSubstr(words));
      EXPECT_THAT(scute_errormsg(), HasSubstr("backup"));
      pool = nullptr;
    }
    EXPECT_EQ(read_file(path), before);
    EXPECT_EQ(fs::exists(log) ? read_file(log) : bytes(), log_before);
  }

  const std::string log;
  std::vector<scute_oid> objects;
  unsigned last = 0;
};

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
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    {
      child c([&] {
        f.open();
        for (unsigned k = 0;; ++k) {
          f.change(round * 100000 + k);
          if (::write(told[1], &k, sizeof k) != sizeof k) return;
        }
      });
      ::close(told[1]);
      unsigned k = 0;
      while (k < round * 7)
        if (::read(told[0], &k, sizeof k) != sizeof k) FAIL();
      c.end();
      unsigned more = 0;
      while (::read(told[0], &more, sizeof more) == sizeof more) k = more;
      f.last = round * 100000 + k;
    }
    ::close(told[0]);
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

// BESIDE-2
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

// BESIDE-2
TEST(log_file, OfAClosedPoolIsMadeAnew) {
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
      SCUTE_FAILS(SCUTE_E_EXISTS, f.open_how());
      f.pool = nullptr;
      EXPECT_EQ(read_file(f.log + ".foreign"), c.content);
    }
    ::unlink((f.log + ".foreign").c_str());
  }
  write_file(f.path, pool);
  ::unlink(f.log.c_str());
  f.open();
  f.expect_last();
  EXPECT_TRUE(fs::exists(f.log));
}

// BESIDE-2. A pool was killed and put elsewhere, and an older copy of it takes its place: the log that is there is the other
// one's, with transactions that are nowhere else, although it has the same uuid. It used to be replaced.
TEST(log_file, OfANewerCopyOfThePoolIsSetAside) {
  for (const bool other_engine : {false, true}) {
    SCOPED_TRACE(other_engine ? "the copy has another engine" : "the copy has engine spec");
    disk_pool f;
    scute_options o = on_disk();
    f.change(1);
    f.close();
    if (other_engine) {
      SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_LOGFREE));
    }
    const bytes copy = read_file(f.path), copy_log = other_engine ? bytes() : read_file(f.log);
    if (other_engine) {
      SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
    }
    f.open();
    f.change(2);
    f.kill();
    const bytes killed = read_file(f.path), its_log = read_file(f.log);
    write_file(f.path, copy);
    f.last = 1;
    for (int k = 0; k < 2; ++k) {
      f.open();
      f.expect_last();
      f.close();
    }
    EXPECT_EQ(read_file(f.log + ".foreign"), its_log);
    // And so the other one is whole again.
    write_file(f.path, killed);
    fs::rename(f.log + ".foreign", f.log);
    f.last = 2;
    f.open();
    f.expect_last();
  }
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

// BESIDE-1, PLACE-2: what a crash leaves at either name.
TEST(log_file, GetsItsNameFromWhoeverOpensThePool) {
  disk_pool f, other;
  f.change(1);
  f.kill();
  other.kill();
  const std::string coming = f.log + ".new";
  const bytes pool = read_file(f.path), log = read_file(f.log), foreign = read_file(other.log);
  // Of a creation that replaced a pool with a log; of one that replaced none; beside what another creation has left.
  const std::pair<bytes, bytes> found[] = {{foreign, log}, {{}, log}, {log, foreign}};
  for (const auto& [at_name, at_coming] : found) {
    write_file(f.path, pool);
    write_file(f.log, at_name);
    if (at_name.empty()) ::unlink(f.log.c_str());
    write_file(coming, at_coming);
    SCUTE_OKAY(f.open_how(SCUTE_READONLY));
    f.expect_last();
    f.close();
    f.open();
    f.expect_last();
    f.change(2);
    f.kill();
    f.open();
    f.expect_last();
    f.close();
    f.last = 1;
  }
}

// PLACE-1
TEST(log_file, ACreationLeavesOtherLogsAlone) {
  disk_pool f;
  const scute_options o = on_disk();
  f.change(1);
  f.kill();
  const bytes log = read_file(f.log);
  ::unlink(f.path.c_str());
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_create(f.path.c_str(), &o, &f.pool));
  EXPECT_THAT(scute_errormsg(), HasSubstr(f.log));
  EXPECT_FALSE(fs::exists(f.path));
  EXPECT_EQ(read_file(f.log), log);
  EXPECT_EQ(f.dir.count(), 1U);
  // One that nobody needs is in nobody's way.
  ::unlink(f.log.c_str());
  f.create(o);
  f.close();
  ::unlink(f.path.c_str());
  f.create(o);
  f.kill();
  // Nor is that of the pool that is replaced.
  scute_options over = o;
  over.flags |= SCUTE_OVERWRITE;
  f.create(over);
  f.objects[0] = f.alloc(pattern(0, 300));
  f.kill();
  f.open();
  EXPECT_EQ(f.read(f.objects[0]), pattern(0, 300));
  EXPECT_EQ(f.dir.count(), 2U);
  f.kill();
  over.engine = SCUTE_ENGINE_LOGFREE;
  f.create(over);
  EXPECT_EQ(f.dir.count(), 1U);
}

TEST(log_file, ChecksSeeADamagedHeadAndMendIt) {
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

TEST(log_file, ComesAndGoesWithTheEngine) {
  disk_pool f;
  f.change(1);
  f.close();
  scute_options o = on_disk();
  for (unsigned round = 2; round < 5; ++round) {
    SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_LOGFREE));
    EXPECT_EQ(f.dir.count(), 1U);
    f.open();
    f.expect_last();
    f.change(round * 2);
    f.close();
    SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
    EXPECT_EQ(f.dir.count(), 2U);
    f.open();
    f.expect_last();
    f.change(round * 2 + 1);
    f.kill();
    f.open();
    f.expect_last();
    f.close();
  }
  // Another size; and from the file into the pool, as in memory, and back.
  const uint64_t before = fs::file_size(f.log);
  o.log_cap = 2 * mib;
  SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
  EXPECT_GT(fs::file_size(f.log), before);
  f.open();
  f.expect_last();
  f.close();
  o.log_cap = 0;
  o.medium = SCUTE_MEDIUM_RAM;
  SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
  EXPECT_EQ(f.dir.count(), 1U);
  o.medium = SCUTE_MEDIUM_FILE;
  SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
  EXPECT_EQ(f.dir.count(), 2U);
  f.open();
  f.expect_last();
}

// BESIDE-1: a kill in between leaves a pool of one of them, and at most one log.
TEST(log_file, AKillInASwitch) {
  disk_pool f;
  f.change(1);
  f.close();
  scute_options o = on_disk();
  for (unsigned round = 0; round < 24; ++round) {
    const auto to = round % 2 == 0 ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_SPEC;
    child c([&] { SCUTE_OKAY_E(scute_set_engine(f.path.c_str(), &o, to)); });
    ::usleep(1000 + round * 400);
    c.end();
    f.open();
    f.expect_last();
    const auto now = f.info().engine;
    f.change(round + 2);
    f.kill();
    f.open();
    f.expect_last();
    f.close();
    EXPECT_EQ(fs::exists(f.log), now == SCUTE_ENGINE_SPEC);
    ::unlink((f.log + ".new").c_str());
    if (now != to) {
      SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, to));
    }
  }
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
  for (unsigned i = 0; i < 20; ++i) {
    f.change(i + 1);
    SCUTE_OKAY(scute_drain(f));
  }
  EXPECT_EQ(fs::file_size(f.log), before);
  f.expect_last();
}

TEST(log_file, TwoProcessesDoNotShareIt) {
  disk_pool f;
  in_child([&] {
    scute_pool* second = nullptr;
    const scute_options o = on_disk();
    SCUTE_FAILS(SCUTE_E_BUSY, scute_open(f.path.c_str(), &o, &second));
  });
  f.change(1);
  f.expect_last();
}

}  // namespace
}  // namespace scute::test
