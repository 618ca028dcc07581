// SPDX-License-Identifier: BSD-3-Clause
// Signals that are sent again arrive in the order in which they were first sent (ORDER-1, ORDER-2,
// ORDER-3).
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "shield/interpose/signals/signal_order.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {
using core::interpose::signal_order;

siginfo_t numbered(int signal, int n) {
  siginfo_t what{};
  what.si_signo = signal;
  what.si_value.sival_int = n;
  return what;
}

// The kernel's queue of a thread, and the signals that its handlers have received.
struct thread {
  signal_order order;
  std::deque<siginfo_t> queue;
  std::map<int, std::vector<int>> reported;

  // The first one comes, and has to wait for the end of a call, or not.
  void come(bool waits) {
    siginfo_t what = queue.front();
    queue.pop_front();
    order.exchange(what, std::ranges::any_of(queue, [&](const siginfo_t& other) {
                     return other.si_signo == what.si_signo;
                   }));
    siginfo_t tick;
    if (waits && order.keep(what, tick)) return queue.push_back(tick);
    reported[what.si_signo].push_back(what.si_value.sival_int);
  }
};

TEST(signal_order, NumbersComeAsTheyWereSent) {
  random_source random(test_seed());
  for (int round = 0; round < 200; ++round) {
    thread t;
    std::map<int, std::vector<int>> sent;
    const int same = round % 2 == 0 ? 1 : 1000;  // contents that repeat
    for (int i = 0; i < 2000; ++i) {
      if (random.between(0, 1) == 0) {
        const int signal = SIGRTMIN + static_cast<int>(random.between(0, 2));
        t.queue.push_back(numbered(signal, i / same));
        sent[signal].push_back(i / same);
      } else if (!t.queue.empty()) {
        t.come(random.between(0, 2) == 0);
      }
    }
    while (!t.queue.empty()) t.come(false);
    EXPECT_TRUE(t.order.is_empty());
    EXPECT_EQ(t.reported, sent) << "round " << round;
  }
}

TEST(signal_order, ATickThatNeverComesLeavesNothing) {
  thread t;
  t.queue.push_back(numbered(SIGRTMIN, 1));
  t.come(true);
  ASSERT_EQ(t.queue.size(), 1u);
  t.queue.pop_front();  // the number is ignored for a moment
  t.queue.push_back(numbered(SIGRTMIN + 1, 10));
  t.come(true);
  ASSERT_EQ(t.queue.size(), 1u);
  t.queue.push_back(numbered(SIGRTMIN, 2));
  t.queue.push_back(numbered(SIGRTMIN, 3));
  while (!t.queue.empty()) t.come(false);
  EXPECT_EQ(t.reported[SIGRTMIN + 1], std::vector<int>{10});
  t.queue.push_back(numbered(SIGRTMIN, 4));
  t.come(false);
  EXPECT_EQ(t.reported[SIGRTMIN].back(), 4);
  EXPECT_TRUE(t.order.is_empty());
}

TEST(signal_order, WithoutRoomNothingIsLost) {
  thread t;
  for (int i = 0; i < 20; ++i) {
    siginfo_t what = numbered(SIGRTMIN, i);
    t.queue.push_back(what);
  }
  unsigned kept = 0;
  siginfo_t tick;
  for (int i = 0; i < 20; ++i) kept += t.order.keep(numbered(SIGRTMIN + 1, i), tick) ? 1 : 0;
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 20u);
  for (; kept != 0; --kept) t.order.take_back();
  EXPECT_TRUE(t.order.is_empty());
  while (!t.queue.empty()) t.come(false);
  EXPECT_EQ(t.reported[SIGRTMIN].size(), 20u);
}

}  // namespace
}  // namespace scute::test
