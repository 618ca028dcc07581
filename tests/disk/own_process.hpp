// SPDX-License-Identifier: BSD-3-Clause
// Part of a test in a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "disk/small_disk.hpp"

namespace scute::test {

// Runs fn in a process of its own, which must end well: a missing block ends it by a signal.
template <typename Fn>
void in_own_process(Fn&& fn) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    fn();
    small_disk::end();
    std::fflush(stdout);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace scute::test
