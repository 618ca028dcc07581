// SPDX-License-Identifier: BSD-3-Clause
// Threads of two real-time priorities that share one processor: the higher one runs whenever it is
// able to, and the lower one only while the higher one sleeps. So a thread that waits for the other
// one by yielding waits for ever.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::test {

// False, and said so, where this process may not have such threads (CAP_SYS_NICE, RLIMIT_RTPRIO):
// then the threads have ordinary priorities, and the test shows less. (engine/waits_test.cpp shows
// without any rights that a waiting thread sleeps.)
inline bool take_priority(int priority) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  cpu_set_t allowed;
  EXPECT_EQ(0, ::sched_getaffinity(0, sizeof allowed, &allowed));
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      break;
    }
  EXPECT_EQ(0, ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one));
  const sched_param p{priority};
  const int e = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &p);
  if (e == 0) return true;
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::fprintf(
        stderr,
        "no real-time priorities for this process (error %d): the threads have ordinary ones, "
        "with which no wait lasts for ever\n",
        e);
  return false;
}

// Two threads of each priority, in a process of their own (which is killed if they do not end):
// body(number, rounds), the lower ones for as long as the higher ones run.
template <typename Prepare, typename Body, typename End>
void with_two_priorities(Prepare&& prepare, Body&& body, End&& end) {
  in_child([&] {
    prepare();
    std::atomic<unsigned> higher{2};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const bool high = t >= 2;
        take_priority(high ? 20 : 10);
        for (unsigned round = 0; high ? round < 400 : higher != 0; ++round) {
          body(t, round);
          // In the middle of something of the lower one's it wakes up. The lower ones sleep as
          // well, but seldom: of two threads of one priority a thread that never sleeps runs
          // alone.
          if (high)
            pause(std::chrono::microseconds(20 + round * 37 % 200));
          else if (round % 16 == 15)
            pause(std::chrono::microseconds(10));
        }
        if (high) --higher;
      });
    for (auto& t : threads) t.join();
    end();
  });
}

}  // namespace scute::test
