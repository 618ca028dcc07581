// SPDX-License-Identifier: BSD-3-Clause
// Group commit (SYNC-1 to SYNC-4 of core/file/group_sync.hpp): which thread waits for which sync,
// and that no thread is left waiting. The syncs here are functions that a test holds up as long
// as it likes.
#include "core/file/group_sync.hpp"
#include "support/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace scute::core::medium {
namespace {

using test::wait_until;

void join(group_sync& g, const std::function<void(bool)>& lead) {
  g.join(
      [](void* arg, bool alone) { (*static_cast<const std::function<void(bool)>*>(arg))(alone); },
      const_cast<std::function<void(bool)>*>(&lead));
}

TEST(group_sync, AloneLeadsAtOnce) {
  group_sync g;
  int led = 0;
  for (int i = 1; i <= 3; ++i) {
    join(g, [&](bool alone) {
      EXPECT_TRUE(alone);
      ++led;
    });
    EXPECT_EQ(led, i);
    EXPECT_EQ(g.begun(), static_cast<uint32_t>(i));
  }
}

// SYNC-1, SYNC-2: five threads that come during a sync are all served by the next one, by one of
// them.
TEST(group_sync, AThreadThatComesDuringASyncWaitsForTheNext) {
  group_sync g;
  std::atomic<bool> inside{false}, go{false};
  std::atomic<int> later{0}, returned{0}, not_alone{0};
  std::thread first([&] {
    join(g, [&](bool) {
      inside = true;
      wait_until([&] { return go.load(); });
      EXPECT_EQ(returned, 0);  // this one has served no thread
    });
  });
  wait_until([&] { return inside.load(); });
  std::vector<std::thread> others;
  for (int i = 0; i < 5; ++i)
    others.emplace_back([&] {
      join(g, [&](bool alone) {
        not_alone += alone ? 0 : 1;
        ++later;
      });
      EXPECT_GE(later, 1);
      ++returned;
    });
  wait_until([&] { return g.waiting() == 5; });
  EXPECT_EQ(g.begun(), 1u);
  go = true;
  first.join();
  for (auto& t : others) t.join();
  EXPECT_EQ(later, 1);
  EXPECT_EQ(not_alone, 1);
  EXPECT_EQ(g.begun(), 2u);
  EXPECT_EQ(g.waiting(), 0u);
}

// SYNC-1, by what it is for: a number stored before join() is in what some sync has seen before it
// returns.
TEST(group_sync, WhatWasStoredBeforeIsSynced) {
  group_sync g;
  constexpr int threads = 6, rounds = 3000;
  struct alignas(64) slot {
    std::atomic<int> stored{0}, synced{0};
  };
  std::vector<slot> slots(threads);
  std::atomic<int> at_once{0};
  std::vector<std::thread> all;
  for (int me = 0; me < threads; ++me)
    all.emplace_back([&, me] {
      for (int n = 1; n <= rounds; ++n) {
        slots[static_cast<size_t>(me)].stored = n;
        join(g, [&](bool alone) {
          EXPECT_EQ(at_once.fetch_add(1), 0);  // SYNC-2
          const auto own = static_cast<size_t>(me);
          if (alone)
            slots[own].synced = slots[own].stored.load();
          else
            for (slot& s : slots) {
              const int seen = s.stored;
              std::this_thread::yield();
              s.synced = seen;
            }
          --at_once;
        });
        ASSERT_GE(slots[static_cast<size_t>(me)].synced, n);
      }
    });
  for (auto& t : all) t.join();
  EXPECT_LE(g.begun(), static_cast<uint32_t>(threads * rounds));
}

// SYNC-4: every thread that the leader's sync served gets an error that the leader notes.
TEST(group_sync, EachThreadSeesTheLeadersError) {
  group_sync g;
  std::atomic<bool> inside{false}, go{false}, failed{false};
  std::thread first([&] {
    join(g, [&](bool) {
      inside = true;
      wait_until([&] { return go.load(); });
    });
  });
  wait_until([&] { return inside.load(); });
  std::vector<std::thread> others;
  std::atomic<int> saw{0};
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      join(g, [&](bool) { failed = true; });
      saw += failed ? 1 : 0;
    });
  wait_until([&] { return g.waiting() == 3; });
  go = true;
  first.join();
  for (auto& t : others) t.join();
  EXPECT_EQ(saw, 3);
}

}  // namespace
}  // namespace scute::core::medium
