// SPDX-License-Identifier: BSD-3-Clause
// A child process that runs a function, which must end.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "support/wait.hpp"

namespace scute::test {

class child {
 public:
  enum class made_by : uint8_t { fork, system_call };  // the latter runs no fork handlers

  template <typename Fn>
  explicit child(Fn&& body, made_by how = made_by::fork) {
    std::fflush(nullptr);
    pid_ = how == made_by::fork ? ::fork() : static_cast<pid_t>(::syscall(SYS_fork));
    if (pid_ != 0) return;
    body();
    // A child's test results are lost with it; its printed words are not.
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ~child() {
    if (pid_ > 0) end();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }
  // Its status, as waitpid() reports it; -1 if it does not end.
  int wait() {
    int status = 0;
    if (!becomes_true([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) {
      end();
      return -1;
    }
    pid_ = -1;
    return status;
  }
  // kill -9
  void end() {
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

// Runs it in a child, which must end well.
template <typename Fn>
void in_child(Fn&& body, child::made_by how = child::made_by::fork) {
  EXPECT_EQ(child(std::forward<Fn>(body), how).wait(), 0) << "the child failed, or did not end";
}

}  // namespace scute::test
