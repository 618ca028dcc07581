// SPDX-License-Identifier: BSD-3-Clause
// A system that refuses: limits on files, descriptors and memory. A call that fails returns a
// documented error, and leaves the pool unchanged. (fault_test.cpp: single calls that fail.)
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "hostile/fault_injector.hpp"
#include "support/pool_file.hpp"

#if defined(__SANITIZE_THREAD__)
// Children end in the middle of their work, with threads of the library's own.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "report_thread_leaks=0";
}
#endif

namespace scute::test {
namespace {

// Runs fn in a process of its own, which must end well.
template <typename Fn>
void in_child(Fn&& fn) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    fn();
    std::fflush(stdout);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(system, FileSizeLimit) {
  in_child([] {
    scratch dir;
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2 * mib, 2 * mib};
    ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
    scute_options o = options(8 * mib);
    scute_pool* p = nullptr;
    SCUTE_FAILS(SCUTE_E_NOSPC, scute_create(dir.file("pool").c_str(), &o, &p));
    EXPECT_EQ(dir.count(), 0u);
    o.size = mib;
    SCUTE_OKAY(scute_create(dir.file("pool").c_str(), &o, &p));
    SCUTE_OKAY(scute_close(p));
  });
}

// The signal of that limit would end the process. No handler of the program gets it either. A
// signal of that kind that the program has held back before stays pending. (SIG-3)
TEST(system, FileSizeLimitRaisesNoSignal) {
  for (const bool handler : {false, true})
    for (const uint32_t flags : {0u, uint32_t{SCUTE_PREALLOCATE}})
      in_child([&] {
        scratch dir;
        if (handler) std::signal(SIGXFSZ, [](int) { ::_exit(9); });
        const rlimit limit{2 * mib, 2 * mib};
        ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
        scute_options o = options(8 * mib);
        o.flags = flags;
        scute_pool* p = nullptr;
        SCUTE_FAILS(SCUTE_E_NOSPC, scute_create(dir.file("pool").c_str(), &o, &p));
        EXPECT_EQ(errno, EFBIG);
        EXPECT_NE(std::string(scute_errormsg()).find("2097152"), std::string::npos)
            << scute_errormsg();
        EXPECT_EQ(dir.count(), 0u);
        sigset_t now;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
        EXPECT_EQ(::sigismember(&now, SIGXFSZ), 0);
        ::sigpending(&now);
        EXPECT_EQ(::sigismember(&now, SIGXFSZ), 0);
        ::sigemptyset(&now);
        ::sigaddset(&now, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &now, nullptr);
        ::raise(SIGXFSZ);
        SCUTE_FAILS(SCUTE_E_NOSPC, scute_create(dir.file("pool").c_str(), &o, &p));
        ::sigpending(&now);
        EXPECT_EQ(::sigismember(&now, SIGXFSZ), 1) << "it was the program's";
      });
}

// A pool that is longer already: what is in use changes, more of it comes into use, a lost page
// comes back, and the pool is opened after a crash. (SIG-3)
TEST(system, FileSizeLimitOfALongerPool) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    pool_file f(where);
    scute_options o = options(8 * mib);
    o.engine = SCUTE_ENGINE_LOGFREE;
    f.create(o);
    const scute_oid first = f.alloc(pattern(0, 100));
    f.close();
    in_child([&] {
      const rlimit limit{64 * kib, 64 * kib};
      ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
      f.open();
      std::vector<scute_oid> made;
      for (uint64_t k = 0; k < 200; ++k) made.push_back(f.alloc(pattern(k, 20000)));
      for (uint64_t k = 0; k < 200; ++k) EXPECT_TRUE(f.read(made[k]) == pattern(k, 20000));
      scute_injection lose;
      scute_injection_init(&lose);
      lose.kind = SCUTE_INJURE_LOSE_PAGE;
      lose.offset = f.offset_of(made[150]) & ~uint64_t{4095};
      SCUTE_OKAY(scute_inject(f, &lose, nullptr, nullptr, nullptr));
      EXPECT_TRUE(f.read(made[150]) == pattern(150, 20000));
      EXPECT_EQ(f.info().pages_repaired, 1u);
      f.overwrite(first, pattern(7, 100));
    });
    in_child([&] {
      const rlimit limit{64 * kib, 64 * kib};
      ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
      f.open();
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      EXPECT_TRUE(f.read(first) == pattern(7, 100));
      f.expect_sound();
    });
    f.open();
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    EXPECT_EQ(f.check(true).lost, 0u);
    EXPECT_TRUE(f.read(first) == pattern(7, 100));
    f.expect_sound();
  }
}

// Calls that know the limit write the log of a pool on a disk. A process that may not write to all
// of it is refused before anything is acknowledged, whether the pool was closed or killed. Nothing
// is changed.
TEST(system, FileSizeLimitOfALongerLog) {
  pool_file f(scratch::disk);
  scute_options o = options(8 * mib);
  o.engine = SCUTE_ENGINE_SPEC;
  f.create(o);
  const scute_oid oid = f.alloc(pattern(0, 100));
  f.close();
  const auto refused = [&] {
    in_child([&] {
      const rlimit limit{64 * kib, 64 * kib};
      ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limit));
      SCUTE_FAILS(SCUTE_E_NOSPC, scute_open(f.path.c_str(), nullptr, &f.pool));
      EXPECT_EQ(errno, EFBIG);
      EXPECT_NE(std::string(scute_errormsg()).find("ulimit -f"), std::string::npos)
          << scute_errormsg();
    });
  };
  refused();
  in_child([&] {
    f.open();
    f.overwrite(oid, pattern(1, 100));
  });
  refused();
  f.open();
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  f.expect_sound();
}

TEST(system, NoDescriptorsLeft) {
  pool_file f;
  f.create();
  f.close();
  in_child([&] {
    const rlimit limit{0, 0};
    ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &limit));
    SCUTE_FAILS(SCUTE_E_IO, f.try_open());
    scute_pool* p = nullptr;
    const scute_options o = options();
    SCUTE_FAILS(SCUTE_E_IO, scute_create(f.dir.file("second").c_str(), &o, &p));
  });
}

TEST(system, NothingIsLeftOpen) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  pool_file f;
  f.create();
  f.close();
  const auto before = descriptors();
  for (int i = 0; i < 5; ++i) {
    f.open();
    f.close();
    scute_options o = opening();
    o.layout = "another";
    SCUTE_FAILS(SCUTE_E_LAYOUT, scute_open(f.path.c_str(), &o, &f.pool));
    faults::always(call::ftruncate, EIO);
    SCUTE_FAILS(SCUTE_E_IO, scute_create(f.dir.file("x").c_str(), &o, &f.pool));
    faults::always(call::ftruncate, 0);
  }
  EXPECT_EQ(descriptors(), before);
}

TEST(system, FileWithoutPermissions) {
  pool_file f;
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 100));
  f.close();
  ASSERT_EQ(0, ::chmod(f.path.c_str(), 0444));
  in_child([&] {
    // Root may do anything, so become another user. A user without privileges stays as it is.
    std::filesystem::permissions(std::filesystem::path(f.path).parent_path(),
                                 std::filesystem::perms::all);
    if (::geteuid() == 0) {
      ASSERT_EQ(0, ::seteuid(65534));
    }
    SCUTE_FAILS(SCUTE_E_READONLY, f.try_open());
    f.open(SCUTE_READONLY);
    EXPECT_TRUE(f.read(oid) == pattern(1, 100));
    f.close();
  });
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The C library must not have address space in hand, or it serves large requests from that,
// whatever the limit: no arenas of threads, 64 MiB each, and no large blocks in the heap, where
// they stay when freed.
const bool nothing_in_hand =
    ::mallopt(M_ARENA_MAX, 1) == 1 && ::mallopt(M_MMAP_THRESHOLD, 128 * 1024) == 1;

// Sanitizers reserve terabytes of address space, so this one runs without them only.
TEST(system, AddressSpaceLimit) {
  ASSERT_TRUE(nothing_in_hand);
  pool_file f;
  f.create(64 * mib);
  const scute_oid big = f.alloc(pattern(1, 20 * mib)), small = f.alloc(pattern(2, 100));
  ASSERT_NE(big, 0u);
  f.close();
  in_child([&] {
    const rlimit tight{64 * mib, RLIM_INFINITY};
    ASSERT_EQ(0, ::setrlimit(RLIMIT_AS, &tight));
    SCUTE_FAILS(SCUTE_E_NOMEM, f.try_open());
  });
  in_child([&] {
    f.open();
    rlimit limit{};
    // The memory that is mapped now, and a little more.
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    limit.rlim_cur = pages * 4096 + 4 * mib;
    limit.rlim_max = RLIM_INFINITY;
    ASSERT_EQ(0, ::setrlimit(RLIMIT_AS, &limit));
    void* p = nullptr;
    scute_oid oid = 0;
    {
      transaction tx(f);
      SCUTE_FAILS(SCUTE_E_NOMEM, scute_tx_open(tx, big, &p));
      SCUTE_FAILS(SCUTE_E_NOMEM, scute_tx_alloc(tx, 20 * mib, 1, &oid, &p));
      SCUTE_OKAY(scute_tx_open(tx, small, &p));
      std::memset(p, 5, 100);
      SCUTE_OKAY(tx.commit());
    }
    SCUTE_FAILS(SCUTE_E_NOMEM, scute_obj_open(f, big, &p));
    limit.rlim_cur = RLIM_INFINITY;
    ASSERT_EQ(0, ::setrlimit(RLIMIT_AS, &limit));
    EXPECT_TRUE(f.read(small) == bytes(100, 5));
    EXPECT_EQ(f.objects(), 2u);
    f.expect_sound();
    EXPECT_NE(f.alloc(bytes(20 * mib)), 0u) << "the reservation was not released";
    f.close();
  });
  f.open();
  EXPECT_TRUE(f.read(small) == bytes(100, 5));
}
#endif

}  // namespace
}  // namespace scute::test
