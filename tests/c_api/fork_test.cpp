// SPDX-License-Identifier: BSD-3-Clause
// fork() with open pools (base/process/process.hpp).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/process/process.hpp"
#include "c_api/every_call.hpp"
#include "support/child.hpp"

namespace scute::test {
using namespace core;
namespace {

// A sanitizer for threads allows no new ones in the child of a process that had several, has a
// handler of SIGSEGV of its own, and does not know of children that its wrapper of fork() did not
// make.
#if defined(__SANITIZE_THREAD__)
constexpr bool plain = false, threads_in_children = false;
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool plain = false, threads_in_children = true;
#else
constexpr bool plain = true, threads_in_children = true;
#endif

constexpr auto ways = {child::made_by::fork, child::made_by::system_call};
bool possible(child::made_by how) {
  return how == child::made_by::fork || plain;
}

// A sanitizer would look for leaks, and miss the threads whose stacks refer to what they use.
[[noreturn]] void leave(int status) {
  if (plain) std::exit(status);
  std::fflush(nullptr);
  ::_exit(status);
}

uint64_t& counter(void* bytes) {
  return *static_cast<uint64_t*>(bytes);
}

struct forking_pool : pool_file {
  using pool_file::pool_file;
  void fill(const scute_options& o = options(2 * mib)) {
    create(o);
    oid = alloc(bytes(5000));
  }
  int count_up() {
    scute_tx* tx = nullptr;
    void* to = nullptr;
    if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
    if (const int e = scute_tx_add_range(tx, oid, 0, 8, &to); e != SCUTE_OK) return e;
    ++counter(to);
    return scute_tx_commit(tx);
  }
  uint64_t count() {
    const bytes b = read(oid);
    uint64_t n = 0;
    std::memcpy(&n, b.data(), sizeof n);
    return n;
  }
  // The file, when nothing will change it but what a child does.
  // The pool's thread notes the time of a checkpoint when nothing else is left to do.
  bytes at_rest() {
    in().idle.stop();
    SCUTE_OKAY_E(scute_drain(pool));
    return read_file(path);
  }
  scute_oid oid = 0;
};

// PROC-1.
TEST(fork, EveryCallWithAnInheritedHandleIsRefused) {
  forking_pool f;
  f.fill();
  for (const auto how : ways) {
    if (!possible(how)) continue;
    scute_tx* tx = nullptr;
    SCUTE_OKAY(scute_tx_begin(f, &tx));
    const bytes before = f.at_rest();
    in_child(
        [&] {
          void* buffer = nullptr;
          for (const every_call& c : every_call::all()) {
            if (c.needs == every_call::with::nothing || c.needs == every_call::with::buffer)
              continue;
            SCOPED_TRACE(c.name);
            call_subject s{f.pool, f.oid, tx};
            const bool closes = std::string(c.name) == "scute_close";
            EXPECT_EQ(c.make(s), c.silent || closes ? SCUTE_OK : SCUTE_E_FORKED);
          }
          SCUTE_FAILS(SCUTE_E_FORKED, scute_obj_open(f, f.oid, &buffer));
          siginfo_t info{};
          info.si_code = SEGV_ACCERR;
          info.si_addr = f.in().s.medium->base();
          EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
        },
        how);
    EXPECT_TRUE(read_file(f.path) == before);
    SCUTE_OKAY(scute_tx_abort(tx));
  }
  SCUTE_OKAY(f.count_up());
  f.expect_sound();
}

TEST(fork, ABufferIsReleasedAndNotWritten) {
  forking_pool f;
  f.fill();
  void* buffer = nullptr;
  SCUTE_OKAY(scute_obj_open(f, f.oid, &buffer));
  counter(buffer) = 7;
  const bytes before = f.at_rest();
  in_child([&] { SCUTE_FAILS(SCUTE_E_FORKED, scute_obj_commit(buffer)); });
  in_child([&] { scute_obj_discard(buffer); });
  EXPECT_TRUE(read_file(f.path) == before);
  SCUTE_OKAY(scute_obj_commit(buffer));
  EXPECT_EQ(f.count(), 7u);
}

// The pool's threads are not there, and its locks may be held by threads that are not, either.
TEST(fork, AChildThatExitsHarmsNothing) {
  forking_pool f;
  f.fill();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> committed{0};
  std::mutex turn;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        const std::lock_guard hold(turn);
        if (f.count_up() == SCUTE_OK) ++committed;
      }
    });
  static scute_pool* handle = nullptr;
  handle = f.pool;
  for (int i = 0; i < 30; ++i) {
    child leaver([&] {
      const bool at_exit = plain && i % 3 != 1;
      // As the destructor of a static object does.
      if (at_exit)
        std::atexit([] {
          if (scute_close(handle) != SCUTE_OK) ::_exit(9);
        });
      scute_tx* tx = nullptr;
      if (i % 3 == 2 && scute_tx_begin(handle, &tx) != SCUTE_E_FORKED) ::_exit(7);
      leave(at_exit ? 0 : scute_close(handle));
    });
    EXPECT_EQ(leaver.wait(), 0) << "child " << i;
  }
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(f.count(), committed);
  f.expect_sound();
  const bytes before = f.at_rest();
  in_child([&] { scute_close(f); });
  EXPECT_TRUE(read_file(f.path) == before) << "a child's close reached the file";
  f.reopen();
  EXPECT_EQ(f.info().clean, 1);
  EXPECT_EQ(f.count(), committed);
}

TEST(fork, InsideATransaction) {
  forking_pool f;
  f.fill();
  scute_tx* tx = nullptr;
  void *copy = nullptr, *there = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  SCUTE_OKAY(scute_tx_add_range(tx, f.oid, 0, 8, &copy));
  counter(copy) = 5;
  SCUTE_OKAY(scute_tx_inplace(tx, f.oid, 4096, 8, &there));
  counter(there) = 6;
  in_child([&] {
    counter(copy) = 50;  // of the child's own memory
    SCUTE_FAILS(SCUTE_E_FORKED, scute_tx_commit(tx));
    SCUTE_FAILS(SCUTE_E_FORKED, scute_tx_abort(tx));
    leave(testing::Test::HasFailure() ? 1 : 0);
  });
  SCUTE_OKAY(scute_tx_commit(tx));
  EXPECT_EQ(f.count(), 5u);
  EXPECT_EQ(f.read(f.oid)[4096], 6u);
  f.expect_sound();
}

// PROC-2, FAULT-5.
TEST(fork, PointersOfTheParentFault) {
  if (!plain) return;
  for (const uint32_t flags : {0u, uint32_t{SCUTE_READONLY}}) {
    forking_pool f;
    f.fill();
    f.reopen(flags);
    const void* at = nullptr;
    SCUTE_OKAY(scute_get_verified(f, f.oid, &at));
    for (const auto how : ways) {
      child reader([&] { ::_exit(*static_cast<const volatile char*>(at) == 0 ? 5 : 6); }, how);
      const int status = reader.wait();
      ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
      EXPECT_EQ(WTERMSIG(status), SIGSEGV);
    }
  }
}

// A killed process leaves no lock, whatever else it leaves. (PROC-3)
TEST(fork, AChildThatStaysKeepsNoLock) {
  for (const auto how : ways)
    for (const auto where : {scratch::memory, scratch::disk}) {
      if (!possible(how)) continue;
      forking_pool f(where);
      f.fill();
      f.close();
      int up[2], down[2];
      ASSERT_EQ(::pipe(up), 0);
      ASSERT_EQ(::pipe(down), 0);
      child parent([&] {
        f.open();
        SCUTE_OKAY(f.count_up());
        const child stayer(
            [&] {
              ::close(down[1]);
              char c = 's';
              if (::write(up[1], &c, 1) != 1) ::_exit(1);
              if (::read(down[0], &c, 1) != 1) ::_exit(2);
              const bool harmless = scute_close(f.pool) == SCUTE_OK;
              c = harmless ? 'e' : 'f';
              if (::write(up[1], &c, 1) != 1) ::_exit(3);
              ::_exit(0);
            },
            how);
        for (;;)
          if (f.count_up() != SCUTE_OK) ::_exit(1);
      });
      char c = 0;
      ASSERT_EQ(::read(up[0], &c, 1), 1);
      parent.end();
      f.open();
      EXPECT_EQ(f.info().clean, 0);
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      const uint64_t found = f.count();
      EXPECT_GE(found, 1u);
      const bytes before = f.at_rest();
      ASSERT_EQ(::write(down[1], "g", 1), 1);
      ASSERT_EQ(::read(up[0], &c, 1), 1);
      EXPECT_EQ(c, 'e');
      EXPECT_TRUE(read_file(f.path) == before);
      f.expect_sound();
      for (const int fd : {up[0], up[1], down[0], down[1]}) ::close(fd);
    }
}

// FAULT-1, FAULT-5.
TEST(fork, AChildHasPoolsOfItsOwn) {
  if (!threads_in_children) return;
  forking_pool f;
  f.fill();
  scute_tx* tx = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  in_child([&] {
    scute_pool* again = nullptr;
    EXPECT_EQ(scute_open(f.path.c_str(), nullptr, &again), SCUTE_E_BUSY);
    // Most likely where the parent's was; the handlers are there, or come back.
    if (plain) {
      std::signal(SIGSEGV, SIG_DFL);
      std::signal(SIGBUS, SIG_DFL);
    }
    forking_pool mine;
    mine.fill();
    EXPECT_EQ(scute_tx_current(mine), nullptr);
    SCUTE_OKAY(mine.count_up());
    scute_injection i;
    scute_injection_init(&i);
    i.kind = SCUTE_INJURE_LOSE_PAGE;
    i.offset = mine.offset_of(mine.oid) & ~uint64_t{4095};
    SCUTE_OKAY(scute_inject(mine, &i, nullptr, nullptr, nullptr));
    EXPECT_EQ(mine.count(), 1u);
    EXPECT_EQ(mine.info().pages_repaired, 1u);
    in_child([&] {
      SCUTE_FAILS(SCUTE_E_FORKED, mine.count_up());
      SCUTE_FAILS(SCUTE_E_FORKED, scute_tx_commit(tx));
      SCUTE_FAILS(SCUTE_E_FORKED, scute_drain(f));
    });
    mine.expect_sound();
    mine.close();
  });
  SCUTE_OKAY(scute_tx_commit(tx));
  f.close();
  in_child([&] {
    f.open();
    SCUTE_OKAY(f.count_up());
    f.close();
  });
  f.open();
  EXPECT_EQ(f.count(), 1u);
}

// The way of a server that forks to save (docs/guides/operate.md, "Back up").
TEST(fork, AChildSavesACopy) {
  if (!threads_in_children) return;
  for (const auto where : {scratch::memory, scratch::disk}) {
    forking_pool f(where);
    f.fill();
    for (int i = 0; i < 10; ++i) SCUTE_OKAY(f.count_up());
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    SCUTE_OKAY(scute_drain(f));
    const std::string copy = f.dir.file("copy");
    std::filesystem::copy_file(f.path, copy);
    // Engine spec on a disk: both files of one moment.
    if (std::filesystem::exists(f.path + ".log"))
      std::filesystem::copy_file(f.path + ".log", copy + ".log");
    child saver([&] {
      scute_options o = opening();
      o.flags = SCUTE_READONLY;
      forking_pool saved;
      saved.oid = f.oid;
      SCUTE_OKAY(scute_open(copy.c_str(), &o, &saved.pool));
      for (int i = 0; i < 20; ++i) EXPECT_EQ(saved.count(), 10u);
      saved.expect_sound();
    });
    for (int i = 0; i < 200; ++i) SCUTE_OKAY(f.count_up());
    EXPECT_EQ(saver.wait(), 0);
    EXPECT_EQ(f.count(), 210u);
  }
}

// Descriptors and mappings of an opening go to no child that another thread makes meanwhile.
// (PROC-3, PROC-4)
TEST(fork, WhileAnotherThreadOpens) {
  forking_pool f;
  f.fill();
  f.close();
  std::atomic<bool> stop{false};
  std::thread opener([&] {
    while (!stop) {
      f.open();
      f.close();
    }
  });
  for (int i = 0; i < 100; ++i) {
    child looker([&] {
      // Neither is there a descriptor of the file, nor a mapping.
      std::error_code ignored;
      for (const auto& e : std::filesystem::directory_iterator("/proc/self/fd"))
        if (std::filesystem::read_symlink(e.path(), ignored).string() == f.path) ::_exit(1);
      std::ifstream maps("/proc/self/maps");
      for (std::string line; std::getline(maps, line);)
        if (line.find(f.path) != std::string::npos) ::_exit(2);
      ::_exit(0);
    });
    EXPECT_EQ(looker.wait(), 0) << "child " << i;
  }
  stop = true;
  opener.join();
}

// A child for which no fork handler ran may find the tables of the process taken, by a thread that
// it does not have (PROC-5), and half changed.
TEST(fork, TablesThatAnotherThreadHasTaken) {
  if (!plain) return;
  forking_pool f;
  f.fill();
  std::atomic<int> step{0};
  std::thread holder([&] {
    const std::lock_guard hold(process_tables());
    step = 1;
    while (step == 1) std::this_thread::yield();
  });
  while (step == 0) std::this_thread::yield();
  child maker(
      [&] {
        SCUTE_FAILS(SCUTE_E_FORKED, f.count_up());
        forking_pool mine;
        mine.fill();
        SCUTE_OKAY(mine.count_up());
        mine.reopen();
        EXPECT_EQ(mine.count(), 1u);
        mine.expect_sound();
        // Its own children are like others.
        in_child([&] { SCUTE_FAILS(SCUTE_E_FORKED, mine.count_up()); });
      },
      child::made_by::system_call);
  const int status = maker.wait();
  step = 2;
  holder.join();
  EXPECT_EQ(status, 0) << (status == -1 ? "the child never ended" : "the child failed");
  SCUTE_OKAY(f.count_up());
  EXPECT_EQ(f.count(), 1u);
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
