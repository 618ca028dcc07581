// SPDX-License-Identifier: BSD-3-Clause
// Which kind of medium a file gets, and how its bytes are made durable.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "core/medium/persist.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

// The kernel's answer for a folder, asked independently.
bool on_tmpfs(const std::string& path) {
  struct statfs fs{};
  EXPECT_EQ(0, ::statfs(path.c_str(), &fs));
  return fs.f_type == TMPFS_MAGIC;
}
bool grants_map_sync(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR);
  void* at = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) return false;
  ::munmap(at, 4096);
  return true;
}
scute_medium expected(const std::string& path) {
  return grants_map_sync(path) ? SCUTE_MEDIUM_DAX
         : on_tmpfs(path)      ? SCUTE_MEDIUM_RAM
                               : SCUTE_MEDIUM_FILE;
}

struct environment {  // a variable for the length of a scope
  environment(const char* n, const char* value) : name(n) { ::setenv(n, value, 1); }
  ~environment() { ::unsetenv(name); }
  const char* name;
};

TEST(kind, IsFoundFromTheFileSystem) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    pool_file f(where);
    f.create();
    EXPECT_EQ(f.info().medium, expected(f.path));
    f.reopen();
    EXPECT_EQ(f.info().medium, expected(f.path));
    EXPECT_EQ(f.info().map_sync, grants_map_sync(f.path) ? 1 : 0);
    if (f.info().medium == SCUTE_MEDIUM_FILE) {
      EXPECT_STREQ(f.info().flush, "msync");
    }
  }
}

TEST(kind, CanBeChosen) {
  for (const auto where : {scratch::memory, scratch::disk})
    for (const auto wanted : {SCUTE_MEDIUM_FILE, SCUTE_MEDIUM_RAM}) {
      pool_file f(where);
      scute_options o = options();
      o.medium = wanted;
      f.create(o);
      const scute_oid oid = f.alloc(pattern(1, 5000));
      EXPECT_EQ(f.info().medium, wanted);
      f.close();
      SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
      EXPECT_EQ(f.info().medium, wanted);
      EXPECT_TRUE(f.read(oid) == pattern(1, 5000));
      f.close();
    }
}

TEST(kind, CanBeChosenByTheEnvironment) {
  pool_file f;
  f.create();
  f.close();
  const environment wanted("SCUTE_MEDIUM", "file");
  SCUTE_OKAY(scute_open(f.path.c_str(), nullptr, &f.pool));
  EXPECT_EQ(f.info().medium, SCUTE_MEDIUM_FILE);
  f.close();
  const environment nonsense("SCUTE_MEDIUM", "paper");
  SCUTE_FAILS(SCUTE_E_INVALID, scute_open(f.path.c_str(), nullptr, &f.pool));
  EXPECT_NE(std::string(scute_errormsg()).find("dax"), std::string::npos) << scute_errormsg();
  f.open();  // with options the environment does not matter
  EXPECT_EQ(f.info().medium, expected(f.path));
}

TEST(kind, DaxNeedsAFileSystemThatGrantsIt) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    pool_file f(where);
    f.create();
    f.close();
    const size_t files = f.dir.count();
    scute_options o = opening();
    o.medium = SCUTE_MEDIUM_DAX;
    const int e = scute_open(f.path.c_str(), &o, &f.pool);
    EXPECT_EQ(e, grants_map_sync(f.path) ? SCUTE_OK : SCUTE_E_UNSUPPORTED) << scute_errormsg();
    const std::string second = f.dir.file("second");
    scute_pool* p = nullptr;
    if (scute_create(second.c_str(), &o, &p) == SCUTE_OK)
      scute_close(p);
    else
      EXPECT_EQ(f.dir.count(), files) << "a failed create leaves no file";
  }
}

// The choice is made once per process, so each case is a process of its own.
class flush : public testing::TestWithParam<const char*> {};

TEST_P(flush, InstructionCanBeChosen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string wanted = GetParam();
  EXPECT_EXIT(
      {
        ::setenv("SCUTE_FLUSH", wanted.c_str(), 1);
        std::string got;
        bool right = false;
        {  // ends before the process does, so that the folder goes
          pool_file f;
          scute_options o = options();
          o.medium = SCUTE_MEDIUM_RAM;
          f.create(o);
          const scute_oid oid = f.alloc(pattern(1, 50000));
          f.overwrite(oid, pattern(2, 50000));
          got = f.info().flush;
          f.reopen();
          right = f.read(oid) == pattern(2, 50000) && f.check().damaged == 0;
          f.close();
        }
        std::fprintf(stderr, "flush: %s\n", got.c_str());
        // A CPU may lack the one asked for; it then gets another that it has.
        const bool known =
            got == "clwb" || got == "clflushopt" || got == "clflush" || got == "none";
        std::exit(right && known && (wanted != "none" || got == "none") &&
                          (wanted != "clflush" || got != "clwb")
                      ? 0
                      : 1);
      },
      testing::ExitedWithCode(0),
      wanted == "none" || wanted == "clflush" ? "flush: " + wanted : "flush: ");
}

INSTANTIATE_TEST_SUITE_P(Flush, flush,
                         testing::Values("clwb", "clflushopt", "clflush", "none", "steam"),
                         [](const auto& p) { return std::string(p.param); });

TEST(persist, CopiesExactlyTheBytesAsked) {
  const medium::persist_ops& ops = medium::persist();
  alignas(64) static std::byte to[4096 + 256];
  for (size_t n = 0; n < 2000; n = n * 5 / 4 + 1)
    for (size_t at = 0; at < 130; at += 13)
      for (const bool eadr : {false, true}) {
        std::memset(to, 0x11, sizeof to);
        const bytes from = pattern(n * 131 + at, n + 1);
        medium::copy_persist(ops, eadr, to + 64 + at, from.data(), n);
        ops.fence();
        ASSERT_TRUE(n == 0 || std::memcmp(to + 64 + at, from.data(), n) == 0);
        for (size_t i = 0; i < 64 + at; ++i) ASSERT_EQ(to[i], std::byte{0x11});
        for (size_t i = 64 + at + n; i < sizeof to; ++i) ASSERT_EQ(to[i], std::byte{0x11});
      }
}

}  // namespace
}  // namespace scute::test
