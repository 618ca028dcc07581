// SPDX-License-Identifier: BSD-3-Clause
// FILE-7: no program opens a pool that is being replaced, and none is replaced while a program has
// it open. Its transactions would be in a file without a name.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

scute_options replacing(scute_engine e = SCUTE_ENGINE_AUTO) {
  scute_options o = options(2 * mib);
  o.flags = SCUTE_OVERWRITE;
  o.engine = e;
  return o;
}

struct attempts {
  std::string path;
  unsigned made = 0, busy = 0;

  void make() {
    for (const uint32_t how : {0u, uint32_t{SCUTE_READONLY}}) {
      scute_options mine;
      scute_options_init(&mine);
      mine.flags = how;
      scute_pool* other = nullptr;
      ++made;
      if (scute_open(path.c_str(), &mine, &other) == SCUTE_E_BUSY)
        ++busy;
      else
        scute_close(other);
    }
  }
};

TEST(replacing, NoProgramOpensTheOldPool) {
  pool_file f;
  f.create(options(2 * mib));
  f.close();
  attempts tried{f.path};
  scute_options o = replacing();
  o.flags |= SCUTE_PREALLOCATE;
  o.progress_arg = &tried;
  o.progress = [](void* arg, const char*, uint64_t, uint64_t) {
    static_cast<attempts*>(arg)->make();
  };
  f.create(o);
  f.close();
  EXPECT_GT(tried.made, 0u);
  EXPECT_EQ(tried.busy, tried.made);
  std::filesystem::resize_file(f.path, 100000);
  f.create(o);
  f.close();
  EXPECT_EQ(tried.busy, tried.made) << "also a damaged one";
  f.open();
  EXPECT_EQ(f.dir.pools(), 1u);
}

uint64_t inode(const std::string& path) {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 ? st.st_ino : 0;
}

// Two processes: one replaces it again and again, the other opens it and commits. Each is refused
// while the other is there, or waits for its turn.
class replacing_at_once : public testing::TestWithParam<scratch::where> {};

TEST_P(replacing_at_once, APoolThatIsOpenKeepsItsName) {
  pool_file f(GetParam());
  f.create(replacing());
  f.close();
  int down[2];
  ASSERT_EQ(::pipe(down), 0);
  const pid_t maker = ::fork();
  if (maker == 0) {
    ::close(down[1]);
    pollfd end{down[0], POLLIN, 0};
    for (unsigned made = 0, turn = 0; made < 20 || ::poll(&end, 1, 0) == 0; ++turn) {
      const scute_options o = replacing(turn % 3 == 0 ? SCUTE_ENGINE_REDO : SCUTE_ENGINE_SPEC);
      scute_pool* p = nullptr;
      const int e = scute_create(f.path.c_str(), &o, &p);
      if (e != SCUTE_OK && e != SCUTE_E_BUSY) ::_exit(2);
      if (e == SCUTE_OK && scute_close(p) != SCUTE_OK) ::_exit(3);
      made += e == SCUTE_OK ? 1 : 0;
    }
    ::_exit(0);
  }
  ::close(down[0]);
  for (unsigned opened = 0; opened < 40;) {
    const int e = f.try_open();
    if (e == SCUTE_E_BUSY) continue;
    EXPECT_EQ(e, SCUTE_OK) << scute_errormsg();
    if (e != SCUTE_OK) break;
    const uint64_t mine = inode(f.path);
    const scute_oid oid = f.alloc(pattern(++opened, 300));
    EXPECT_EQ(f.read(oid), pattern(opened, 300));
    EXPECT_EQ(inode(f.path), mine) << "it was replaced";
    f.close();
  }
  ::close(down[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(maker, &status, 0), maker);
  EXPECT_EQ(status, 0);
  f.open();
  f.expect_sound();
  EXPECT_EQ(f.dir.pools(), 1u);
}

INSTANTIATE_TEST_SUITE_P(On, replacing_at_once, testing::Values(scratch::memory, scratch::disk),
                         [](const auto& p) {
                           return p.param == scratch::disk ? "disk" : "memory";
                         });

}  // namespace
}  // namespace scute::test
