// SPDX-License-Identifier: BSD-3-Clause
// Threads in an order that is chosen beforehand.
#include "testing/scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/locks/waiting.hpp"

namespace scute::testing {
using namespace core;
namespace {

using bodies = std::vector<std::function<void()>>;

// Threads of `n` operations each, and the log of which thread ran each one.
class Scheduler : public ::testing::Test {
 protected:
  bodies counting(std::vector<int> operations) {
    bodies all;
    for (size_t t = 0; t < operations.size(); ++t)
      all.push_back([this, t, n = operations[t]] {
        for (int i = 0; i < n; ++i) act(t);
      });
    return all;
  }
  void act(size_t thread) {
    s.operation();
    note(thread);
  }
  void note(size_t thread) { log += static_cast<char>('0' + thread); }
  std::string run(const bodies& b, const schedule& order) {
    log.clear();
    turns.clear();
    s.run(b, order, [this](unsigned t) { turns += static_cast<char>('0' + t); });
    return log;
  }

  // Three threads that contend for a lock.
  std::string contend(scheduler& by, const schedule& order) {
    waiting_mutex mutex;
    log.clear();
    turns.clear();
    bodies b;
    for (size_t t = 0; t < 3; ++t)
      b.push_back([&, t] {
        const auto step = [&] {
          by.operation();
          note(t);
        };
        for (int i = 0; i < 5; ++i) {
          step();
          mutex.lock();
          step();
          step();
          mutex.unlock();
          step();
        }
      });
    by.run(b, order, [this](unsigned t) { turns += static_cast<char>('0' + t); });
    return log;
  }

  scheduler s;
  std::string log, turns;  // written by one thread at a time: that is what is tested
};

TEST_F(Scheduler, OneAfterTheOther) {
  EXPECT_EQ(run(counting({2, 3, 1}), {}), "001112");
  EXPECT_EQ(turns, "0122");  // no thread is left to take the last one's turn
  EXPECT_EQ(run(counting({2, 3, 1}), {1, {}}), "111200");
  EXPECT_EQ(run(counting({2, 3, 1}), {2, {}}), "200111");
  EXPECT_EQ(s.operations(), 6u);
}

// At an operation of the schedule the other thread runs before it.
TEST_F(Scheduler, Preemptions) {
  EXPECT_EQ(run(counting({3, 3}), {0, {{0, 1}}}), "111000");
  EXPECT_EQ(run(counting({3, 3}), {0, {{2, 1}}}), "001110");
  EXPECT_EQ(run(counting({3, 3}), {0, {{1, 1}, {3, 0}}}), "010011");
  EXPECT_EQ(run(counting({2, 2, 2}), {0, {{1, 2}, {2, 1}}}), "011220");
  EXPECT_EQ(s.operations(), 6u);
}

TEST_F(Scheduler, PreemptionsThatCannotBe) {
  EXPECT_EQ(run(counting({2, 2}), {0, {{1, 0}}}), "0011");          // to itself
  EXPECT_EQ(run(counting({2, 2}), {0, {{1, 7}}}), "0011");          // to no thread
  EXPECT_EQ(run(counting({2, 2}), {0, {{99, 1}}}), "0011");         // too late
  EXPECT_EQ(run(counting({2, 2}), {0, {{3, 0}}}), "0011");          // to one that is done
  EXPECT_EQ(run(counting({2, 2}), {0, {{1, 1}, {1, 0}}}), "0110");  // two at once: the first
  EXPECT_EQ(run(counting({2, 2}), {9, {}}), "0011");                // no thread first
}

TEST_F(Scheduler, OfOneThread) {
  EXPECT_EQ(run(counting({3}), {}), "000");
  EXPECT_EQ(run(counting({3}), {0, {{1, 0}}}), "000");
}

TEST_F(Scheduler, SameScheduleSameOrder) {
  std::mt19937_64 random(7);
  std::vector<std::string> seen;
  for (int round = 0; round < 50; ++round) {
    schedule order{static_cast<unsigned>(random() % 3), {}};
    for (uint64_t at = random() % 4; at < 60; at += 1 + random() % 9)
      order.preemptions.push_back({at, static_cast<unsigned>(random() % 3)});
    const std::string first = contend(s, order), first_turns = turns;
    EXPECT_EQ(first.size(), 60u);
    EXPECT_EQ(contend(s, order), first) << order.text();
    EXPECT_EQ(turns, first_turns) << order.text();
    scheduler another;
    EXPECT_EQ(contend(another, order), first) << order.text();
    seen.push_back(first);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 30);
}

// ---- waiting ------------------------------------------------------------------------------------

TEST_F(Scheduler, AWaitingThreadPassesTheTurnOn) {
  waiting_mutex mutex;
  const bodies b = {[&] {
                      mutex.lock();
                      act(0);
                      act(0);  // thread 1 comes in between, and has to wait
                      note(0);
                      mutex.unlock();
                      act(0);
                    },
                    [&] {
                      log += '?';
                      mutex.lock();
                      note(1);
                      mutex.unlock();
                    }};
  EXPECT_EQ(run(b, {0, {{1, 1}}}), "0?0001");
  EXPECT_EQ(run(b, {1, {}}), "?10000");
}

// Past threads that are done, and past others that wait.
TEST_F(Scheduler, WaitersOfThree) {
  waiting_mutex mutex;
  const auto locked = [&](size_t t) {
    return [&, t] {
      act(t);
      mutex.lock();
      act(t);
      note(t);
      mutex.unlock();
    };
  };
  // Thread 0 holds the lock when 1 comes and waits; then 2 comes and waits; then 0 continues.
  EXPECT_EQ(run({locked(0), locked(1), locked(2)}, {0, {{1, 1}}}), "012001122");
}

TEST_F(Scheduler, WaitingSpins) {
  bool ready = false;
  const bodies b = {[&] {
                      unsigned spins = 0;
                      while (!ready) spin_pause(spins);
                      note(0);
                    },
                    [&] {
                      act(1);
                      ready = true;
                      act(1);
                    }};
  EXPECT_EQ(run(b, {}), "110");
}

TEST_F(Scheduler, DeadlockEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  waiting_mutex one, two;
  // The test does exactly the locking that the analysis would refuse.
  const bodies b = {[&]() SCUTE_NO_LOCK_ANALYSIS {
                      one.lock();
                      act(0);
                      act(0);
                      two.lock();
                    },
                    [&]() SCUTE_NO_LOCK_ANALYSIS {
                      two.lock();
                      act(1);
                      one.lock();
                    }};
  const schedule order{0, {{1, 1}}};
  EXPECT_DEATH(run(b, order), "deadlock.*thread 0 first, thread 1 from operation 1");
}

// ---- exceptions, holding ------------------------------------------------------------------------

TEST_F(Scheduler, ExceptionsPropagateAfterTheOthersAreDone) {
  const bodies b = {[&] {
                      act(0);
                      throw std::runtime_error("thread 0 fails");
                    },
                    [&] {
                      act(1);
                      act(1);
                    }};
  try {
    run(b, {});
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "thread 0 fails");
  }
  EXPECT_EQ(log, "011");
  // And the scheduler can be used again.
  EXPECT_EQ(run(counting({1, 1}), {}), "01");
}

TEST_F(Scheduler, TheFirstExceptionIsThrown) {
  const bodies b = {[&] {
                      act(0);
                      act(0);
                      throw std::runtime_error("second");
                    },
                    [&] { throw std::runtime_error("first"); }};
  try {
    run(b, {0, {{1, 1}}});
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "first");
  }
}

TEST_F(Scheduler, AHeldTurnIsKept) {
  const bodies b = {[&] {
                      act(0);
                      s.hold();
                      act(0);  // not counted: not an operation of the schedule
                      act(0);
                      s.release();
                      act(0);
                    },
                    [&] { act(1); }};
  EXPECT_EQ(run(b, {0, {{1, 1}}}), "00010");
  EXPECT_EQ(s.operations(), 3u);
}

TEST(Schedule, Text) {
  EXPECT_EQ(schedule{}.text(), "thread 0 first");
  EXPECT_EQ((schedule{2, {{5, 1}, {9, 0}}}.text()),
            "thread 2 first, thread 1 from operation 5, thread 0 from operation 9");
}

}  // namespace
}  // namespace scute::testing
