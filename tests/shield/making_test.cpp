// SPDX-License-Identifier: BSD-3-Clause
// Files come under the shield and leave it: what is refused, space, permissions, locks of others
// (MAKE-1 to MAKE-3).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "support/child.hpp"
#include "support/shielded.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;

uint64_t blocks_of(const std::string& path) {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 ? static_cast<uint64_t>(st.st_blocks) * 512 : 0;
}
unsigned mode_of(const std::string& path) {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 0777 : 0;
}

TEST(making, RefusesWhatIsNoFile) {
  shielded f;
  SCUTE_FAILS(SCUTE_E_NOENT, scute_shield_add(f.path.c_str(), nullptr, 0, 0));
  write_file(f.path, {});
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_add(f.path.c_str(), nullptr, 0, 0));
  fs::create_directory(f.path + ".d");
  SCUTE_FAILS(SCUTE_E_FORMAT, scute_shield_add((f.path + ".d").c_str(), nullptr, 0, 0));
  ASSERT_EQ(::mkfifo((f.path + ".p").c_str(), 0600), 0);
  SCUTE_FAILS(SCUTE_E_FORMAT, scute_shield_add((f.path + ".p").c_str(), nullptr, 0, 0));
  fs::create_symlink("nowhere", f.path + ".l");
  SCUTE_FAILS(SCUTE_E_NOENT, scute_shield_add((f.path + ".l").c_str(), nullptr, 0, 0));
  SCUTE_FAILS(SCUTE_E_NOENT, scute_shield_add("", nullptr, 0, 0));
  f.make(10000);
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_add(f.path.c_str(), nullptr, 9999, 0));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_add(f.path.c_str(), nullptr, 0, 4));
  scute_options o = shielded::options();
  o.rows = 2000;
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_add(f.path.c_str(), &o, 0, 0));
  EXPECT_FALSE(f.is_shielded());
  f.add();
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_shield_add(f.path.c_str(), nullptr, 0, 0));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_add(f.sidecar().c_str(), nullptr, 0, 0));
  f.expect_file();
}

// By another name it would be changed without the shield, and by the shield of that name all that
// was written by this one undone.
TEST(making, OneNameOnly) {
  shielded f;
  f.make(10000);
  const std::string second = f.path + ".second";
  fs::create_hard_link(f.path, second);
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_add(f.path.c_str(), nullptr, 0, 0));
  EXPECT_FALSE(f.is_shielded());
  fs::remove(second);
  f.add();
  fs::create_hard_link(f.path, second);
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_add(second.c_str(), nullptr, 0, 0));
  EXPECT_FALSE(fs::exists(second + ".scute"));
  f.expect_file();
}

// MAKE-2: a process that may write to the file while its checksums are made is found where the
// system reports it.
TEST(making, RefusesWhatOthersUse) {
  shielded f;
  f.make(100000);
  const auto meanwhile = [&](auto&& hold) {
    int ready[2], go[2];
    ASSERT_EQ(::pipe(ready) + ::pipe(go), 0);
    child other([&] {
      const int fd = ::open(f.path.c_str(), O_RDWR);
      hold(fd);
      char c = 0;
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      ::close(go[1]);
      static_cast<void>(::read(go[0], &c, 1));
      ::_exit(0);
    });
    char c = 0;
    ASSERT_EQ(::read(ready[0], &c, 1), 1);
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_add(f.path.c_str(), nullptr, 0, 0));
    for (const int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
    EXPECT_EQ(other.wait(), 0);
  };
  meanwhile([](int) {});
  meanwhile([](int fd) { ::flock(fd, LOCK_SH); });
  meanwhile([](int fd) { ::lockf(fd, F_LOCK, 0); });
  meanwhile([](int fd) {
    ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
  });
  EXPECT_FALSE(f.is_shielded());
  f.add();
}

// Times of files have ticks: until the next change of the file has another time than the last one.
void await_tick(const shielded& f) {
  struct stat s{};
  ASSERT_EQ(::stat(f.path.c_str(), &s), 0);
  wait_until([&] {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const timespec& then = s.st_ctim;
    return now.tv_sec > then.tv_sec || (now.tv_sec == then.tv_sec && now.tv_nsec > then.tv_nsec);
  });
}

// MAKE-2: no process that writes to it at that moment goes unnoticed.
TEST(making, WatchesTheFile) {
  shielded f;
  f.make(100000);
  scute_options o = shielded::options();
  o.progress_arg = &f;
  o.progress = [](void* arg, const char* what, uint64_t, uint64_t) {
    if (std::string(what) != "protect") return;
    await_tick(*static_cast<shielded*>(arg));
    static_cast<shielded*>(arg)->flip(5000);
  };
  SCUTE_FAILS(SCUTE_E_CONFLICT, scute_shield_add(f.path.c_str(), &o, 0, 0));
  EXPECT_FALSE(f.is_shielded());
  EXPECT_EQ(f.dir.count(), 1u);
  f.content[5000] ^= 0x40;
  f.expect_file();
  f.add();
}

TEST(making, WatchesTheFileThatIsAdopted) {
  shielded f;
  f.make(100000);
  f.add();
  scute_options o = shielded::options();
  o.progress_arg = &f;
  o.progress = [](void* arg, const char* what, uint64_t, uint64_t) {
    if (std::string(what) != "protect") return;
    await_tick(*static_cast<shielded*>(arg));
    static_cast<shielded*>(arg)->flip(5000);
  };
  SCUTE_FAILS(SCUTE_E_CONFLICT, scute_shield_adopt(f.path.c_str(), &o, 0, 0));
  EXPECT_TRUE(f.is_shielded());  // as before
  EXPECT_EQ(f.dir.count(), 2u);
  f.content[5000] ^= 0x40;
  f.expect_file();
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  f.open();
  f.expect_content();
}

// MAKE-5: nor one that has opened it by then and writes later, when its checksums are made.
TEST(making, LooksAgain) {
  for (const uint32_t flags : {uint32_t{0}, uint32_t{SCUTE_SHIELD_GUARD}}) {
    shielded f;
    f.make(100000);
    ASSERT_EQ(::chmod(f.path.c_str(), 0640), 0);
    static int fd;
    fd = -1;
    scute_options o = shielded::options();
    o.progress_arg = &f;
    o.progress = [](void* arg, const char* what, uint64_t, uint64_t) {
      if (std::string(what) == "protect" && fd < 0)
        fd = ::open(static_cast<shielded*>(arg)->path.c_str(), O_RDWR);
    };
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_add(f.path.c_str(), &o, 0, flags));
    ASSERT_GE(fd, 0);
    EXPECT_FALSE(f.is_shielded());
    EXPECT_EQ(f.dir.count(), 1u);
    EXPECT_EQ(mode_of(f.path), 0640u);
    ::close(fd);
    f.expect_file();
    f.add();
  }
}

// SUPLOCK-4: no process ever held a protection that the second look takes away again.
TEST(making, NoProcessOpensAProtectionThatMayBeRemoved) {
  shielded f;
  f.make(100000);
  static int fd;
  scute_options o = shielded::options();
  o.progress_arg = &f;
  o.progress = [](void* arg, const char* what, uint64_t, uint64_t) {
    if (std::string(what) == "protect" && fd < 0)
      fd = ::open(static_cast<shielded*>(arg)->path.c_str(), O_RDWR);
  };
  std::atomic<bool> over = false;
  std::atomic<unsigned> busy = 0, opened = 0;
  std::thread other([&] {
    while (!over) {
      scute_pool* pool = nullptr;
      const int err = scute_shield_open(f.path.c_str(), nullptr, &pool);
      if (err == SCUTE_E_BUSY) ++busy;
      if (err != 0) continue;
      ++opened;
      scute_close(pool);
    }
  });
  for (int i = 0; i < 100; ++i) {
    fd = -1;
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_add(f.path.c_str(), &o, 0, 0));
    ::close(fd);
  }
  over = true;
  other.join();
  EXPECT_EQ(opened, 0u);
  EXPECT_GT(busy, 0u);
  EXPECT_FALSE(f.is_shielded());
  f.expect_file();
}

TEST(making, TwoOpeners) {
  shielded f;
  f.make(100000);
  f.add();
  f.open();
  in_child([&] {
    scute_pool* second = nullptr;
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_open(f.path.c_str(), nullptr, &second));
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_remove(f.path.c_str(), nullptr));
    // The file itself is not locked.
    const int fd = ::open(f.path.c_str(), O_RDWR);
    EXPECT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(::lockf(fd, F_TLOCK, 0), 0);
  });
  f.expect_content();
}

// USER-1: a lock that this process has on the file stays while the pool is open.
TEST(making, LocksOfTheProgram) {
  shielded f;
  f.make(100000);
  f.add();
  f.open();
  const int fd = ::open(f.path.c_str(), O_RDWR);
  ASSERT_EQ(::lockf(fd, F_TLOCK, 0), 0);
  f.write(5, pattern(3, 5000));
  f.grow(100001);
  f.expect_sound();
  in_child([&] {
    const int other = ::open(f.path.c_str(), O_RDWR);
    EXPECT_NE(::lockf(other, F_TLOCK, 0), 0);
  });
  ::close(fd);
}

TEST(making, Guard) {
  shielded f;
  f.make(100000);
  ASSERT_EQ(::chmod(f.path.c_str(), 0640), 0);
  f.add(shielded::options(), 0, SCUTE_SHIELD_GUARD);
  EXPECT_EQ(mode_of(f.path), 0u);
  f.open();
  EXPECT_EQ(f.state().guard, 0640u);
  EXPECT_TRUE(f.read(0, f.content.size()) == f.content);
  f.write(7, pattern(5, 5000));
  f.close();
  EXPECT_EQ(mode_of(f.path), 0u);
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  EXPECT_EQ(mode_of(f.path), 0u);
  f.open();
  EXPECT_EQ(f.state().guard, 0640u);
  f.close();
  SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
  EXPECT_EQ(mode_of(f.path), 0640u);
  f.expect_file();
}

// IDENT-1: a change of permissions is no change of a guarded file, so what differs in it is damage,
//          and no opening reads all of it.
TEST(making, GuardedAndDamaged) {
  shielded f;
  f.make(100000);
  f.add(shielded::options(), 0, SCUTE_SHIELD_GUARD);
  for (const bool by_content : {false, true}) {
    struct stat before{};
    ASSERT_EQ(::stat(f.path.c_str(), &before), 0);
    await_tick(f);
    ASSERT_EQ(::chmod(f.path.c_str(), 0600), 0);
    f.flip(5000);
    ASSERT_EQ(::chmod(f.path.c_str(), 0), 0);
    if (!by_content) {
      const timespec times[] = {before.st_atim, before.st_mtim};
      ASSERT_EQ(::utimensat(AT_FDCWD, f.path.c_str(), times, 0), 0);
    }
    scute_shield_condition condition{};
    SCUTE_OKAY(scute_shield_look(f.path.c_str(), &condition, nullptr));
    EXPECT_EQ(condition, by_content ? SCUTE_SHIELD_TOUCHED : SCUTE_SHIELD_CLEAN);
    scute_pool* pool = nullptr;
    if (by_content) {
      SCUTE_FAILS(SCUTE_E_CHANGED, scute_shield_open(f.path.c_str(), nullptr, &pool));
      continue;
    }
    f.open();
    EXPECT_TRUE(f.read(0, f.content.size()) == f.content);
    EXPECT_EQ(mode_of(f.path), 0u);
    f.close();
    EXPECT_EQ(mode_of(f.path), 0u);
  }
}

// GUARDED-2: what has left a guarded file with permissions is ended by the next session, when it
//            begins.
TEST(making, GuardedAndGiven) {
  shielded f;
  f.make(100000);
  f.add(shielded::options(), 0, SCUTE_SHIELD_GUARD);
  ASSERT_EQ(::chmod(f.path.c_str(), 0600), 0);
  f.open();
  EXPECT_EQ(mode_of(f.path), 0u);
  EXPECT_TRUE(f.read(0, f.content.size()) == f.content);
}

TEST(making, GuardedAndMadeAgain) {
  shielded f;
  f.make(100000);
  ASSERT_EQ(::chmod(f.path.c_str(), 0640), 0);
  f.add(shielded::options(), 0, SCUTE_SHIELD_GUARD);
  const scute_options o = shielded::options();
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), &o, 0, 0));
  EXPECT_EQ(mode_of(f.path), 0u);
  EXPECT_EQ(mode_of(f.sidecar()), 0640u);
  SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
  EXPECT_EQ(mode_of(f.path), 0640u);
  f.expect_file();
}

// docs/internals/shield.md, Space: at N = 100 at most 2.5 percent.
TEST(making, Space) {
  shielded f(scratch::disk);
  f.make(64 * mib);
  fs::resize_file(f.path, 600 * mib);  // holes, which get blocks
  scute_options o = shielded::options(SCUTE_ENGINE_LOGFREE);
  SCUTE_OKAY(scute_shield_add(f.path.c_str(), &o, 0, 0));
  EXPECT_LE(blocks_of(f.sidecar()) * 1000, 600 * mib * 25) << blocks_of(f.sidecar());
  EXPECT_EQ(fs::file_size(f.path), 600 * mib);
  SCUTE_OKAY(scute_shield_open(f.path.c_str(), &o, &f.pool));
  EXPECT_EQ(f.state().rows, 100u);
  f.expect_sound();
  EXPECT_LE(blocks_of(f.sidecar()) * 1000, 600 * mib * 25) << blocks_of(f.sidecar());
}

TEST(making, LinksAreFollowed) {
  shielded f;
  f.make(100000);
  fs::create_symlink(f.path, f.path + ".link");
  const std::string link = f.path + ".link";
  SCUTE_OKAY(scute_shield_add(link.c_str(), nullptr, 0, 0));
  EXPECT_TRUE(f.is_shielded());
  SCUTE_OKAY(scute_shield_open(link.c_str(), nullptr, &f.pool));
  f.expect_content();
  f.close();
  SCUTE_OKAY(scute_shield_remove(link.c_str(), nullptr));
  EXPECT_FALSE(f.is_shielded());
}

// MAKE-4
TEST(making, RemoveRepairsWhatIsDamaged) {
  for (const auto engine : {SCUTE_ENGINE_SPEC, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_REDO})
    for (const auto where : {scratch::disk, scratch::memory}) {
      shielded f(where);
      f.make(mib);
      f.add(shielded::options(engine));
      f.open();
      f.write(100, pattern(8, 70000));
      for (const uint64_t at : {uint64_t{7}, uint64_t{90000}, uint64_t{mib - 1}}) f.flip(at);
      f.close();
      SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
      EXPECT_FALSE(f.is_shielded());
      f.expect_file();
    }
}

TEST(making, RemoveRefusesWhatIsLost) {
  shielded f;
  f.make(mib);
  f.add(shielded::options(SCUTE_ENGINE_LOGFREE));
  f.open();
  const uint64_t place = f.place_of(90000);
  const core::pool::geometry& g = f.in().s.geo;
  const core::pool::cell c = core::pool::cell_of(g, place);
  for (const uint64_t at : {place, core::pool::parity_offset(g, c.zone, c.column)}) {
    scute_injection i;
    scute_injection_init(&i);
    i.kind = SCUTE_INJURE_SCRIBBLE;
    i.offset = at;
    i.length = 200;
    i.seed = at;
    SCUTE_OKAY(scute_inject(f.pool, &i, nullptr, nullptr, nullptr));
  }
  f.close();
  const bytes damaged = read_file(f.path);
  ASSERT_FALSE(damaged == f.content);
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_shield_remove(f.path.c_str(), nullptr));
  EXPECT_TRUE(f.is_shielded());
  EXPECT_TRUE(read_file(f.path) == damaged);
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_shield_remove(f.path.c_str(), nullptr));
  // The way out that the message names.
  SCUTE_OKAY(scute_shield_adopt(f.path.c_str(), nullptr, 0, 0));
  SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
  EXPECT_TRUE(read_file(f.path) == damaged);
  EXPECT_EQ(f.dir.count(), 1u);
}

// Nothing that was committed is left in a log.
TEST(making, RemoveCheckpoints) {
  for (const auto engine : {SCUTE_ENGINE_SPEC, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_REDO})
    for (const auto where : {scratch::disk, scratch::memory}) {
      shielded f(where);
      f.make(mib);
      f.add(shielded::options(engine));
      f.open();
      f.write(100, pattern(8, 70000));
      f.close();
      SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
      f.expect_file();
      EXPECT_EQ(f.dir.count(), 1u);
    }
}

}  // namespace
}  // namespace scute::test
