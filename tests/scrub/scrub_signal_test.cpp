// SPDX-License-Identifier: BSD-3-Clause
// scute_scrub_stop() "may be called from signal handlers": at random moments, in threads that
// are in the middle of library calls, those of the scrub and its waiters included. In a child,
// since it would hang.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <thread>
#include <vector>

#include "scrub/scrubbing.hpp"
#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

std::atomic<scute_pool*> pool_of_handler{nullptr};
std::atomic<uint64_t> handled{0};

void stop_scrub(int) {
  scute_scrub_stop(pool_of_handler);
  handled.fetch_add(1, std::memory_order_relaxed);
}

class scrub_signal : public testing::TestWithParam<scute_engine> {
 protected:
  // A pool that takes a scrub at the slow rate most of a minute.
  void make(known_pool& f) {
    struct sigaction act{};
    act.sa_handler = stop_scrub;
    act.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGUSR1, &act, nullptr), 0);
    f.create(16 * mib, {SCUTE_PROTECT_MLPC, GetParam()});
    f.fill();
    for (int i = 0; i < 20; ++i) f.add(400'000);
    pool_of_handler = f.pool;
  }
  static scute_scrub_options slow(uint64_t rate = mib / 4) {
    scute_scrub_options o;
    scute_scrub_options_init(&o);
    o.threads = 2;
    o.rate = rate;
    return o;
  }
};

// The thread that gets the signal scrubs, or waits for a scrub, or does neither.
TEST_P(scrub_signal, StopsAScrub) {
  in_child([&] {
    known_pool f;
    make(f);
    std::atomic<bool> under_way{false};
    scute_scrub_options o = slow();
    o.arg = &under_way;
    o.progress = [](void* arg, const char*, uint64_t, uint64_t) {
      static_cast<std::atomic<bool>*>(arg)->store(true);
    };
    for (const int where : {0, 1, 2}) {
      SCOPED_TRACE(where);
      under_way = false;
      const uint64_t before = handled;
      const pthread_t me = pthread_self();
      std::thread sender([&] {
        wait_until([&] { return under_way.load(); });
        if (where != 2) pthread_kill(me, SIGUSR1);
      });
      scute_report r{};
      r.struct_size = sizeof r;
      if (where == 0) {
        SCUTE_OKAY_E(scute_scrub(f, &o, &r));
      } else {
        SCUTE_OKAY_E(scute_scrub_start(f, &o));
        if (where == 2) {
          wait_until([&] { return under_way.load(); });
          raise(SIGUSR1);
        }
        SCUTE_OKAY_E(scute_scrub_wait(f, &r));
      }
      sender.join();
      EXPECT_EQ(handled, before + 1);
      EXPECT_EQ(r.complete, 0) << "it was stopped";
    }
    scute_report r{};
    r.struct_size = sizeof r;
    SCUTE_OKAY_E(scute_scrub(f, nullptr, &r));
    EXPECT_EQ(r.complete, 1);
    f.expect_objects();
  });
}

// Threads that commit, start scrubs, wait for them and receive reports of damage, and signals
// all the time.
TEST_P(scrub_signal, AtAnyMomentOfAnyCall) {
  SCUTE_RANDOM(random);
  random_source for_child(random);
  in_child([&] {
    known_pool f;
    make(f);
    std::vector<scute_oid> mine;
    for (int t = 0; t < 3; ++t) mine.push_back(f.add(5000));
    std::deque<random_source> sources;
    for (int t = 0; t < 3; ++t) sources.emplace_back(for_child);
    std::atomic<int> working{3};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        random_source& dice = sources[t];
        for (int round = 0; round < 400 || handled <= 100; ++round) {
          if (dice.one_in(3)) {
            const scute_scrub_options o = slow(dice.between(10, 400) * mib);
            const int e = scute_scrub_start(f, &o);
            EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_BUSY) << scute_errormsg();
          } else if (dice.one_in(3)) {
            const int e = scute_scrub_wait(f, nullptr);
            EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_NOENT) << scute_errormsg();
          } else {
            f.overwrite(mine[t], pattern(dice.word(), 5000));
            scute_injection flip;
            scute_injection_init(&flip);
            flip.offset = f.offset_of(mine[t]) + dice.between(0, 4999);
            EXPECT_EQ(scute_inject(f, &flip, nullptr, nullptr, nullptr), SCUTE_OK)
                << scute_errormsg();
            f.read(mine[t]);
          }
        }
        --working;
      });
    std::vector<pthread_t> targets{pthread_self()};
    for (auto& t : threads) targets.push_back(t.native_handle());
    while (working != 0) {
      pause(std::chrono::microseconds(for_child.between(1, 300)));
      pthread_kill(targets[for_child.between(0, 3)], SIGUSR1);
    }
    for (auto& t : threads) t.join();
    scute_scrub_stop(f);
    scute_scrub_wait(f, nullptr);
    f.expect_sound();
  });
}
INSTANTIATE_TEST_SUITE_P(Engine, scrub_signal, every_engine, engine_name);

}  // namespace
}  // namespace scute::test
