// SPDX-License-Identifier: BSD-3-Clause
// Files of others at names that pools, their logs, and both in the making have
// (OURS-1, OURS-2, OURS-3, OURS-4, LOGFILE-7, FILE-3, PLACE-2): none is removed, and none is
// written over.
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/engine/speculative/log_file/log_in_file.hpp"
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
  // The pool there needs no log of another one, nor does the new one: a process that replaced the
  // log's own pool may have died before it removed the log.
  f.create(over);
  EXPECT_EQ(read_file(f.log + ".foreign"), its);
  f.close();
  ::unlink((f.log + ".foreign").c_str());
  write_file(f.log, its);
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, 2 * mib - 4096}) {
    const unsigned char x = 0x5a;
    write_at(f.path, at + 100, &x, 1);
  }
  f.create(over);
  EXPECT_EQ(read_file(f.log + ".foreign"), its);
  f.kill();
  f.open();
}

bytes marked(bytes all) {
  for (const char c : std::string("SCUTENEW")) all.push_back(static_cast<unsigned char>(c));
  return all;
}

// Files that dead processes have left are removed as before.
TEST(foreign_files, LeftoversAreNone) {
  disk_pool f;
  f.change(1);
  f.close();
  bytes begun(3 * 4096, 7);
  std::copy_n("SCUTENEW", 8, begun.begin());
  for (const bytes& left : {marked(read_file(f.path)), marked(read_file(f.log)),
                            marked(bytes(65536)), bytes(70000), bytes(), begun}) {
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

// OURS-4: a user keeps a pool, or a log, at a name that a file in the making has.
TEST(foreign_files, CopiesOfPoolsAreNotRemoved) {
  scute_options over = on_disk();
  over.flags |= SCUTE_OVERWRITE;
  disk_pool f, other;
  other.change(1);
  other.close();
  for (const bool replaced : {false, true}) {
    SCOPED_TRACE(replaced);
    if (replaced) {
      f.create(over);
      for (auto& o : f.objects) o = f.alloc(pattern(0, 300 + 900 * (&o - f.objects.data())));
    }
    f.change(1);
    f.close();
    for (const bytes& copy : {read_file(f.path), read_file(other.path), read_file(other.log)}) {
      for (const char* name : {".scute-new", ".log.scute-new", ".log.new.scute-new"})
        write_file(f.path + name, copy);
      f.open();
      f.expect_last();
      f.close();
      SCUTE_FAILS(SCUTE_E_EXISTS, scute_create(f.path.c_str(), &over, &f.pool));
      EXPECT_THAT(scute_errormsg(), HasSubstr(f.path + ".scute-new"));
      f.pool = nullptr;
      for (const char* name : {".scute-new", ".log.scute-new", ".log.new.scute-new"}) {
        EXPECT_TRUE(read_file(f.path + name) == copy) << name;
        ::unlink((f.path + name).c_str());
      }
      EXPECT_EQ(f.dir.count(), 2U);
    }
  }
}

// OURS-4: its maker died after the pool had its name.
TEST(foreign_files, MarksOfUnfinishedFilesAreTakenOff) {
  disk_pool f;
  f.change(1);
  f.close();
  for (const std::string& path : {f.path, f.log}) {
    write_file(path, marked(read_file(path)));
    SCUTE_OKAY(f.open_how(SCUTE_READONLY));
    f.expect_last();
    f.close();
    EXPECT_EQ(fs::file_size(path) % 4096, 8U) << "a reader changes nothing";
    f.open();
    f.expect_last();
    f.close();
    EXPECT_EQ(fs::file_size(path) % 4096, 0U);
  }
  EXPECT_EQ(f.dir.count(), 2U);
  // Another program's file that ends like that.
  const bytes text = marked(bytes(4096, 'x'));
  write_file(f.dir.file("text"), text);
  scute_pool* p = nullptr;
  const scute_options o = opening(0, SCUTE_MEDIUM_FILE);
  SCUTE_FAILS(SCUTE_E_FORMAT, scute_open(f.dir.file("text").c_str(), &o, &p));
  EXPECT_EQ(read_file(f.dir.file("text")), text);
}

// LOGFILE-7: logs that this library would remove if it had written them.
TEST(foreign_files, LogsOfANewerLibraryAreNotRemoved) {
  const auto newer = [](format::log_file_head& h) { h.version = 99; };
  disk_pool f;
  f.close();
  edit_head(f.log, newer);
  const bytes its = read_file(f.log);
  const std::string aside = f.log + ".foreign";
  scute_options over = with_engine(SCUTE_ENGINE_REDO);
  over.flags |= SCUTE_OVERWRITE;
  f.create(over);
  EXPECT_EQ(read_file(aside), its) << "of the pool that was replaced";
  ::unlink(aside.c_str());
  f.close();

  const scute_options o = opening(0, SCUTE_MEDIUM_FILE);
  SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
  bytes left = read_file(f.log);
  SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_REDO));
  ASSERT_FALSE(fs::exists(f.log));
  write_file(f.log, left);
  f.open();
  EXPECT_FALSE(fs::exists(f.log)) << "one of this library is removed";
  f.close();
  write_file(f.log, left);
  edit_head(f.log, newer);
  left = read_file(f.log);
  f.open();
  EXPECT_EQ(read_file(aside), left) << "of this pool, which a switch has left over";
  EXPECT_EQ(f.dir.count(), 2U);
  f.close();

  // The log of a pool that was replaced, whose heir has the other name yet.
  disk_pool g;
  g.close();
  left = read_file(g.log);
  over = on_disk();
  over.flags |= SCUTE_OVERWRITE;
  g.create(over);
  g.kill();
  for (const bool is_newer : {false, true}) {
    SCOPED_TRACE(is_newer);
    fs::rename(g.log, g.log + ".new");
    write_file(g.log, left);
    if (is_newer) edit_head(g.log, newer);
    const bytes old = read_file(g.log);
    g.open();
    g.kill();
    ASSERT_EQ(fs::exists(g.log + ".foreign"), is_newer);
    if (is_newer) {
      EXPECT_EQ(read_file(g.log + ".foreign"), old);
    }
  }
}

// A folder in which no name can be removed. The reason used to be that of the last system call.
class stubborn final : public medium::log_paths {
 public:
  stubborn(std::string log, int why) : log_(std::move(log)), why_(why) {}
  std::string path(name) const override {
    errno = 0;
    return log_;
  }
  bool is_wanted(const medium::medium&) const noexcept override { return true; }
  std::unique_ptr<medium::medium> open(name n, medium::access how) override {
    if (n == name::coming) return nullptr;
    return std::make_unique<medium::log_file>(medium::file_handle::open(log_, how), how);
  }
  std::unique_ptr<medium::medium> make(uint64_t) override { return nullptr; }
  void give_name() override {}
  void set_aside(name) override {}
  bool remove(name) noexcept override {
    errno = why_;
    return false;
  }
  void resize(medium::medium&, uint64_t) override {}

 private:
  const std::string log_;
  const int why_;
};

TEST(foreign_files, ALogThatCannotBeRemovedSaysWhy) {
  disk_pool f;
  f.close();
  format::superblock sb;
  std::memcpy(&sb, read_at(f.path, 0, sizeof sb).data(), sizeof sb);
  stubborn gone(f.log, ENOENT), read_only(f.log, EROFS);
  core::engine::log_in_file::remove_unopened(gone, sb);
  try {
    core::engine::log_in_file::remove_unopened(read_only, sb);
    ADD_FAILURE() << "it is removed";
  } catch (const failure& e) {
    EXPECT_EQ(e.code(), SCUTE_E_READONLY);
    EXPECT_THAT(e.what(), HasSubstr(f.log));
  }
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
