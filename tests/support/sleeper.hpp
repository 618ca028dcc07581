// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for what the caller holds sleeps (base/locks/waiting.hpp). The caller
// holds it for as long as the test wants, as a thread that the system does not run.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include "support/wait.hpp"

namespace scute::test {

// Whether the thread sleeps before it has used a second of a processor, which a thread that only
// spins or yields does not.
inline bool comes_to_sleep(std::thread& thread, const std::atomic<pid_t>& number,
                           const std::atomic<bool>& ended) {
  clockid_t clock{};
  if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0) return false;
  bool asleep = false;
  const bool decided = becomes_true([&] {
    timespec used{};
    ::clock_gettime(clock, &used);
    asleep = number != 0 && sleeps(number);
    return asleep || ended || used.tv_sec >= 1;
  });
  return decided && asleep && !ended;
}

// take_and_release runs on another thread while the caller holds what it takes.
inline void expect_sleeper(const std::function<void()>& take_and_release,
                           const std::function<void()>& release) {
  std::atomic<pid_t> number{0};
  std::atomic<bool> ended{false}, may_end{false};
  std::thread waiter([&] {
    number = ::gettid();
    take_and_release();
    ended = true;
    while (!may_end) pause(std::chrono::microseconds(100));  // its clock is there as long as it is
  });
  EXPECT_TRUE(comes_to_sleep(waiter, number, ended));
  EXPECT_FALSE(ended);
  release();
  wait_until([&] { return ended.load(); });
  may_end = true;
  waiter.join();
}

}  // namespace scute::test
