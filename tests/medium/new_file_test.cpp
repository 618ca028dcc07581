// SPDX-License-Identifier: BSD-3-Clause
// Pool files in the making (core/file/new_file.hpp), and what the library's descriptors may not be.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "core/file/new_file.hpp"
#include "core/file/our_file.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

int in_child(const std::function<void()>& fn) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    fn();
    std::fflush(stdout);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

bool there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

int code_of(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const failure& e) {
    return e.code();
  }
  return SCUTE_OK;
}

class new_file : public testing::TestWithParam<scratch::where> {
 protected:
  scratch dir{GetParam()};
  const std::string path = dir.file("pool"), temporary = medium::temporary_name(path);
};

// FILE-1, FILE-2.
TEST_P(new_file, HasNoNameUntilItIsPublished) {
  medium::new_file f(path, 0640, false);
  {
    const medium::file_handle h = f.open(mib);
    ASSERT_EQ(3, ::pwrite(h.fd(), "abc", 3, 0));
  }
  EXPECT_EQ(dir.count(), 0u) << "this file system has no files without names, or they are not used";
  f.publish();
  EXPECT_EQ(dir.count(), 1u);
  struct stat st{};
  ASSERT_EQ(0, ::stat(path.c_str(), &st));
  EXPECT_EQ(st.st_mode & 0777u, 0640u);
  EXPECT_EQ(st.st_size, static_cast<off_t>(mib));
  EXPECT_EQ(read_at(path, 0, 3), (bytes{'a', 'b', 'c'}));
  EXPECT_EQ(SCUTE_E_BUSY, code_of([&] { medium::file_handle::open(path, medium::access::write); }))
      << "its maker has it locked";
}

// FILE-2.
TEST_P(new_file, IsGoneIfItIsNotPublished) {
  {
    const medium::new_file f(path, 0600, false);
  }
  EXPECT_EQ(dir.count(), 0u);
}

TEST_P(new_file, TakesNoNameThatIsTaken) {
  medium::new_file f(path, 0600, false);
  write_file(path, {'x'});
  EXPECT_EQ(SCUTE_E_EXISTS, code_of([&] { f.publish(); }));
  EXPECT_EQ(SCUTE_E_EXISTS, code_of([&] { medium::new_file(path, 0600, false); }));
  EXPECT_EQ(read_file(path), bytes{'x'});
  EXPECT_EQ(dir.count(), 1u);
}

// FILE-1.
TEST_P(new_file, Replaces) {
  bytes old(600, 7);
  std::copy_n(medium::pool_mark, medium::mark_size, old.begin());
  write_file(path, old);
  medium::new_file f(path, 0600, true);
  {
    const auto h = f.open(4096);
  }
  EXPECT_EQ(read_file(path), old);
  f.publish();
  EXPECT_EQ(read_file(path), bytes(4096));
  EXPECT_EQ(dir.count(), 1u);
}

// OURS-3: what has come there while the new one was made is not written over.
TEST_P(new_file, ReplacesNothingOfOthers) {
  {
    medium::new_file f(path, 0600, true);
    {
      const auto h = f.open(4096);
    }
    write_file(path, {'x'});
    try {
      f.publish();
      FAIL() << "it was written over";
    } catch (const failure& e) {
      EXPECT_EQ(e.code(), SCUTE_E_EXISTS);
    }
  }
  EXPECT_EQ(read_file(path), bytes{'x'});
  EXPECT_EQ(dir.count(), 1u);
}

// FILE-3: by the next one that makes or opens the pool, unless its maker lives.
TEST_P(new_file, LeftoversAreRemoved) {
  pool_file f(GetParam());
  f.create();
  f.close();
  const std::string left = medium::temporary_name(f.path);
  write_file(left, bytes(10));
  f.open(SCUTE_READONLY);
  f.close();
  EXPECT_TRUE(there(left)) << "a reader changes nothing";
  f.open();
  EXPECT_FALSE(there(left));
  f.close();

  write_file(left, bytes(10));
  {
    const auto alive = medium::file_handle::open(left, medium::access::write);
    f.open();
    f.close();
    scute_options o = options();
    o.flags = SCUTE_OVERWRITE;
    SCUTE_FAILS(SCUTE_E_BUSY, scute_create(f.path.c_str(), &o, &f.pool));
    EXPECT_TRUE(there(left));
    f.open();
    f.close();
  }
  scute_options o = options();
  o.flags = SCUTE_OVERWRITE;
  SCUTE_OKAY(scute_create(f.path.c_str(), &o, &f.pool));
  EXPECT_EQ(f.dir.pools(), 1u);
  f.close();

  // Its maker died between giving it its name and taking the temporary one.
  bytes whole = read_file(f.path);
  for (const char c : std::string(medium::making_mark))
    whole.push_back(static_cast<unsigned char>(c));
  write_file(f.path, whole);
  ASSERT_EQ(0, ::link(f.path.c_str(), left.c_str()));
  f.open();
  EXPECT_FALSE(there(left));
  f.close();
  // A path that is no file was not left by a creation.
  ASSERT_EQ(0, ::mkdir(left.c_str(), 0700));
  f.open();
  f.close();
  EXPECT_TRUE(there(left));
  ASSERT_EQ(0, ::rmdir(left.c_str()));
  ASSERT_EQ(0, ::symlink(f.path.c_str(), left.c_str()));
  f.open();
  EXPECT_TRUE(there(f.path));
}

// The file that a creation by earlier versions left when it was killed.
TEST_P(new_file, ZerosMayBeReplaced) {
  scute_options o = options();
  o.flags = SCUTE_OVERWRITE;
  scute_pool* p = nullptr;
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, mib, 3 * mib + 5}) {
    write_file(path, bytes(size));
    o.flags = 0;
    SCUTE_FAILS(SCUTE_E_EXISTS, scute_create(path.c_str(), &o, &p));
    o.flags = SCUTE_OVERWRITE;
    SCUTE_OKAY(scute_create(path.c_str(), &o, &p));
    SCUTE_OKAY(scute_close(p));
  }
  bytes almost(3 * mib);
  almost[2 * mib + 77] = 1;
  write_file(path, almost);
  SCUTE_FAILS(SCUTE_E_EXISTS, scute_create(path.c_str(), &o, &p));
  EXPECT_TRUE(read_file(path) == almost);
}

TEST_P(new_file, RelativePaths) {
  ASSERT_EQ(0, in_child([&] {
              ASSERT_EQ(0, ::chdir(std::filesystem::path(path).parent_path().c_str()));
              const scute_options o = options();
              scute_pool* p = nullptr;
              for (const char* name : {"here", "./there"}) {
                SCUTE_OKAY(scute_create(name, &o, &p));
                SCUTE_OKAY(scute_close(p));
              }
              SCUTE_FAILS(SCUTE_E_NOENT, scute_create("no/where", &o, &p));
            }));
  EXPECT_EQ(dir.pools(), 2u);
}

TEST_P(new_file, AFolderThatMayNotBeRead) {
  ASSERT_EQ(0, ::chmod(std::filesystem::path(path).parent_path().c_str(), 0333));
  EXPECT_EQ(0, in_child([&] {
              // Root may do anything, so become another user; an unprivileged process stays as
              // it is.
              if (::geteuid() == 0) {
                ASSERT_EQ(0, ::seteuid(65534));
              }
              const scute_options o = options();
              scute_pool* p = nullptr;
              SCUTE_OKAY(scute_create(path.c_str(), &o, &p));
              SCUTE_OKAY(scute_close(p));
            }));
  ASSERT_EQ(0, ::chmod(std::filesystem::path(path).parent_path().c_str(), 0700));
  EXPECT_EQ(dir.pools(), 1u);
}

// If a standard stream is closed, no pool gets its number: the program would read from it or print
// to it.
TEST_P(new_file, NoPoolIsAStandardStream) {
  pool_file f(GetParam());
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 100));
  f.close();
  ASSERT_EQ(0, in_child([&] {
              for (const int fd : {0, 1, 2}) ::close(fd);
              const scute_options o = options();
              scute_pool* p = nullptr;
              bool free = scute_create(path.c_str(), &o, &p) == SCUTE_OK;
              for (const int fd : {0, 1, 2}) free = free && ::fcntl(fd, F_GETFD) < 0;
              free = free && f.try_open() == SCUTE_OK;
              for (const int fd : {0, 1, 2}) free = free && ::fcntl(fd, F_GETFD) < 0;
              free = free && ::write(1, "text", 4) < 0 && scute_close(p) == SCUTE_OK;
              f.close();
              ::_exit(free ? 0 : 1);
            }));
  f.open();
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(On, new_file, testing::Values(scratch::memory, scratch::disk),
                         [](const auto& p) {
                           return p.param == scratch::disk ? "disk" : "memory";
                         });

}  // namespace
}  // namespace scute::test
