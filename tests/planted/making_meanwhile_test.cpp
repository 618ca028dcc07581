// SPDX-License-Identifier: BSD-3-Clause
// A program that opens a file while its protection is made: between the moment when that is there,
// and the moment when it is locked.
#include <gtest/gtest.h>

#include "base/held_point.hpp"
#include "base/locks/supervisor_lock.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

struct program {
  explicit program(const shielded& protected_file) : file(protected_file) {}
  ~program() {
    core::this_thread_holds = {};
    if (fd >= 0) ::close(fd);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  // It opens the file under the shield, and has its supervisor's lock and the file itself.
  void open_meanwhile() {
    core::this_thread_holds.arg = this;
    core::this_thread_holds.call = [](void* arg) {
      auto& p = *static_cast<program*>(arg);
      core::this_thread_holds = {};
      EXPECT_EQ(p.lock.take(p.file.sidecar()), 0);
      p.fd = ::open(p.file.path.c_str(), O_RDWR);
    };
  }

  const shielded& file;
  core::supervisor_lock lock;
  int fd = -1;
};

// SUPLOCK-4
TEST(making_meanwhile, AProtectionThatAProgramHasStays) {
  shielded f;
  f.make(100000);
  const scute_options o = shielded::options();
  {
    program p(f);
    p.open_meanwhile();
    SCUTE_FAILS(SCUTE_E_BUSY, scute_shield_add(f.path.c_str(), &o, 0, 0));
    EXPECT_NE(std::string(scute_errormsg()).find("which stays"), std::string::npos);
    ASSERT_GE(p.fd, 0) << "no process opened it";
    EXPECT_TRUE(f.is_shielded());
    SCUTE_FAILS(SCUTE_E_BUSY, f.try_open());
  }
  f.open();
  f.expect_content();
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
