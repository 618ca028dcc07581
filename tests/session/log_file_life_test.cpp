// SPDX-License-Identifier: BSD-3-Clause
// A log that is a file of its own: when it is created, gets its name, and goes; and which other
// files may have that name (LOGFILE-1 to LOGFILE-6).
#include "session/log_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// LOGFILE-2. A pool was killed and put elsewhere, and an older copy of it takes its place: the log
// that is there is the other one's, with transactions that are nowhere else, although it has the
// same uuid. It used to be replaced.
TEST(log_file, OfANewerCopyOfThePoolIsSetAside) {
  for (const bool other_engine : {false, true}) {
    SCOPED_TRACE(other_engine ? "the copy has another engine" : "the copy has engine spec");
    disk_pool f;
    scute_options o = opening(0, SCUTE_MEDIUM_FILE);
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

// LOGFILE-1, PLACE-2: what a crash leaves at either name.
TEST(log_file, GetsItsNameWhenThePoolIsOpened) {
  disk_pool f, other;
  f.change(1);
  f.kill();
  other.kill();
  const std::string coming = f.log + ".new";
  const bytes pool = read_file(f.path), log = read_file(f.log), foreign = read_file(other.log);
  // Of a creation that replaced a pool with a log; of one that replaced none; next to the file
  // that another creation has left.
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
    f.survive(2);
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
  // A log that no pool needs blocks no creation.
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

TEST(log_file, ComesAndGoesWithTheEngine) {
  disk_pool f;
  f.change(1);
  f.close();
  scute_options o = opening(0, SCUTE_MEDIUM_FILE);
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
    f.survive(round * 2 + 1);
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

// LOGFILE-1: a kill in between leaves a pool of one of them, and at most one log.
TEST(log_file, AKillInASwitch) {
  disk_pool f;
  f.change(1);
  f.close();
  scute_options o = opening(0, SCUTE_MEDIUM_FILE);
  for (unsigned round = 0; round < 24; ++round) {
    const auto to = round % 2 == 0 ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_SPEC;
    child c([&] { SCUTE_OKAY_E(scute_set_engine(f.path.c_str(), &o, to)); });
    pause(std::chrono::microseconds(1000 + round * 400));
    c.end();
    f.open();
    f.expect_last();
    const auto now = f.info().engine;
    f.survive(round + 2);
    EXPECT_EQ(fs::exists(f.log), now == SCUTE_ENGINE_SPEC);
    ::unlink((f.log + ".new").c_str());
    if (now != to) {
      SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, to));
    }
  }
}

TEST(log_file, TwoProcessesDoNotShareIt) {
  disk_pool f;
  in_child([&] {
    scute_pool* second = nullptr;
    const scute_options o = opening(0, SCUTE_MEDIUM_FILE);
    SCUTE_FAILS(SCUTE_E_BUSY, scute_open(f.path.c_str(), &o, &second));
  });
  f.change(1);
  f.expect_last();
}

}  // namespace
}  // namespace scute::test
