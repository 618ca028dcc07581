// SPDX-License-Identifier: BSD-3-Clause
// Files of others at names that pools, their logs, and both in the making have
// (OURS-1, OURS-2, OURS-3, LOGFILE-7, FILE-3, PLACE-2): none is removed, and none is written over.
#include <unistd.h>

#include <filesystem>

#include "session/log_file.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const bytes letter(5000, 'x');

const char* const names[] = {".log.new", ".scute-new", ".log.scute-new", ".log.new.scute-new"};

scute_options with_engine(scute_engine e) {
  scute_options o = on_disk();
  o.engine = e;
  return o;
}

// A file whose name is not needed stays where it is.
TEST(foreign_files, StayWhenAPoolIsOpened) {
  for (const auto e : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC}) {
    SCOPED_TRACE(e);
    disk_pool f(with_engine(e));
    f.close();
    for (const char* name : names) write_file(f.path + name, letter);
    if (e != SCUTE_ENGINE_SPEC) write_file(f.log, letter);
    f.open();
    f.change(1);
    f.kill();
    f.open();
    f.expect_last();
    f.close();
    for (const char* name : names) EXPECT_EQ(read_file(f.path + name), letter) << name;
    if (e != SCUTE_ENGINE_SPEC) {
      EXPECT_EQ(read_file(f.log), letter);
    }
    EXPECT_EQ(f.dir.count(), 6U);
  }
}

// A creation does not need them, or is refused with nothing changed.
TEST(foreign_files, AreNotReplacedByAPool) {
  disk_pool f(with_engine(SCUTE_ENGINE_REDO));
  f.change(1);
  f.close();
  scute_options over = on_disk();
  over.flags |= SCUTE_OVERWRITE;
  for (const char* name : {".log", ".scute-new"}) {
    SCOPED_TRACE(name);
    write_file(f.path + name, letter);
    SCUTE_FAILS(SCUTE_E_EXISTS, scute_create(f.path.c_str(), &over, &f.pool));
    EXPECT_THAT(scute_errormsg(), HasSubstr(f.path + name));
    f.pool = nullptr;
    EXPECT_EQ(read_file(f.path + name), letter);
    EXPECT_EQ(f.dir.count(), 2U) << "no more than the pool and the letter";
    f.open();
    f.expect_last();
    f.close();
    ::unlink((f.path + name).c_str());
  }
  // The name is needed: what has it gets another one.
  write_file(f.log + ".new", letter);
  f.create(over);
  EXPECT_EQ(read_file(f.log + ".new.foreign"), letter);
  f.kill();
  f.open();
}

// Nor by a switch of engines.
TEST(foreign_files, AreNotReplacedByASwitch) {
  disk_pool f(with_engine(SCUTE_ENGINE_REDO));
  f.change(1);
  f.close();
  const scute_options o = opening(0, SCUTE_MEDIUM_FILE);
  write_file(f.log, letter);
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
  EXPECT_EQ(read_file(f.log), letter);
  f.open();
  f.expect_last();
}

// The log of the pool is at the name that it has before its pool has one.
TEST(foreign_files, AreNotReplacedByALogThatGetsItsName) {
  for (const bool killed : {true, false}) {
    SCOPED_TRACE(killed);
    disk_pool f;
    f.change(1);
    killed ? f.kill() : f.close();
    fs::rename(f.log, f.log + ".new");
    write_file(f.log, letter);
    f.open();
    f.expect_last();
    f.survive(2);
    EXPECT_EQ(read_file(f.log + ".foreign"), letter);
    EXPECT_EQ(f.dir.count(), 3U);
  }
}

// A log that a process may need, and whose pool is another one or cannot be determined.
TEST(foreign_files, LogsOfOtherPoolsAreNotReplaced) {
  disk_pool f, other;
  other.change(1);
  other.kill();
  const bytes its = read_file(other.log);
  f.close();
  write_file(f.log, its);
  scute_options over = on_disk();
  over.flags |= SCUTE_OVERWRITE;
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_create(f.path.c_str(), &over, &f.pool));
  f.pool = nullptr;
  EXPECT_EQ(read_file(f.log), its);
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, 2 * mib - 4096}) {
    const unsigned char x = 0x5a;
    write_at(f.path, at + 100, &x, 1);
  }
  f.create(over);
  EXPECT_EQ(read_file(f.log + ".foreign"), its);
  f.kill();
  f.open();
}

// Files that dead processes have left are removed as before.
TEST(foreign_files, LeftoversAreNone) {
  disk_pool f;
  f.change(1);
  f.close();
  bytes begun(3 * 4096, 7);
  std::copy_n("SCUTENEW", 8, begun.begin());
  for (const bytes& left : {read_file(f.path), read_file(f.log), bytes(70000), bytes(), begun}) {
    write_file(f.path + ".scute-new", left);
    f.open();
    f.expect_last();
    f.close();
    EXPECT_EQ(f.dir.count(), 2U);
  }
  write_file(f.log + ".new", bytes(70000));
  f.open();
  f.close();
  EXPECT_EQ(f.dir.count(), 2U);
}

// FILE.scute.log is named by nothing but FILE.
TEST(foreign_files, StayWhenAShieldIsTakenAway) {
  shielded f(scratch::disk);
  f.make(300000);
  f.add(shielded::options(SCUTE_ENGINE_LOGFREE));
  write_file(f.path + ".scute.log", letter);
  const scute_options o = shielded::options();
  SCUTE_OKAY(scute_shield_remove(f.path.c_str(), &o));
  EXPECT_EQ(read_file(f.path + ".scute.log"), letter);
  f.expect_file();
  EXPECT_EQ(f.dir.count(), 2U);
}

}  // namespace
}  // namespace scute::test
