// SPDX-License-Identifier: BSD-3-Clause
// One writer or several readers: in one process and across processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// The result of opening the pool in another process, which closes it again.
int open_elsewhere(const std::string& path, uint32_t flags) {
  const pid_t child = ::fork();
  if (child == 0) {
    scute_options o = opening();
    o.flags = flags;
    scute_pool* p = nullptr;
    const int e = scute_open(path.c_str(), &o, &p);
    if (e == SCUTE_OK) scute_close(p);
    ::_exit(-e);
  }
  int status = 0;
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status));
  return -WEXITSTATUS(status);
}

// The same in this process.
int open_here(const std::string& path, uint32_t flags) {
  scute_options o = opening();
  o.flags = flags;
  scute_pool* p = nullptr;
  const int e = scute_open(path.c_str(), &o, &p);
  if (e == SCUTE_OK) scute_close(p);
  return e;
}

TEST(lock, AWriterIsAlone) {
  pool_file f;
  f.create();
  for (int round = 0; round < 2; ++round) {
    for (const uint32_t flags : {0u, uint32_t{SCUTE_READONLY}}) {
      SCUTE_FAILS(SCUTE_E_BUSY, open_here(f.path, flags));
      EXPECT_EQ(SCUTE_E_BUSY, open_elsewhere(f.path, flags));
    }
    f.reopen();  // created and opened pools alike
  }
  f.close();
  SCUTE_OKAY(open_here(f.path, 0));
  SCUTE_OKAY(open_elsewhere(f.path, 0));
}

TEST(lock, ReadersShare) {
  pool_file f;
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 100));
  f.reopen(SCUTE_READONLY);
  SCUTE_OKAY(open_here(f.path, SCUTE_READONLY));
  SCUTE_OKAY(open_elsewhere(f.path, SCUTE_READONLY));
  SCUTE_FAILS(SCUTE_E_BUSY, open_here(f.path, 0));
  EXPECT_EQ(SCUTE_E_BUSY, open_elsewhere(f.path, 0));
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
}

TEST(lock, AFailedOpenLeavesNoLock) {
  pool_file f;
  f.create();
  f.close();
  scute_options o = opening();
  o.layout = "another";
  SCUTE_FAILS(SCUTE_E_LAYOUT, scute_open(f.path.c_str(), &o, &f.pool));
  SCUTE_OKAY(open_elsewhere(f.path, 0));
}

TEST(lock, EndsWithItsProcess) {
  pool_file f;
  f.create();
  f.close();
  int ready[2];
  ASSERT_EQ(0, ::pipe(ready));
  const pid_t child = ::fork();
  if (child == 0) {
    const int e = f.try_open();
    if (::write(ready[1], &e, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char e = 1;
  ASSERT_EQ(1, ::read(ready[0], &e, 1));
  ASSERT_EQ(e, 0);
  SCUTE_FAILS(SCUTE_E_BUSY, open_here(f.path, 0));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]), ::close(ready[1]);
  f.open();
  EXPECT_EQ(f.info().clean, 0);
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
