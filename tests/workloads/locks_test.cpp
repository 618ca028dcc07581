// SPDX-License-Identifier: BSD-3-Clause
// The locks of structures and tables, and tables of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/wait.hpp"
#include "workloads/dice.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/locks/lock_table.hpp"
#include "workloads/locks/node_lock.hpp"
#include "workloads/locks/row_locks.hpp"
#include "workloads/section_store.hpp"
#include "workloads/tables/row_table.hpp"

namespace scute::test {
namespace {

using namespace workloads;

// Whether another thread would get the lock.
bool is_free(std::shared_mutex& m) {
  return std::async(std::launch::async, [&] { return m.try_lock() && (m.unlock(), true); }).get();
}
bool is_free_shared(std::shared_mutex& m) {
  return std::async(std::launch::async,
                    [&] { return m.try_lock_shared() && (m.unlock_shared(), true); })
      .get();
}

TEST(lock_set, takes_each_once_and_as_strongly_as_needed) {  // LOCKSET-1
  row_locks rows(8);
  lock_set s;
  s.add_shared(rows.of(1));
  s.add(rows.of(2));
  s.add_shared(rows.of(2));
  s.add(rows.of(9));  // the lock of row 1
  s.add_shared(rows.of(4));
  s.lock();
  EXPECT_FALSE(is_free_shared(rows.of(1)));
  EXPECT_FALSE(is_free_shared(rows.of(2)));
  EXPECT_TRUE(is_free_shared(rows.of(4)));
  EXPECT_FALSE(is_free(rows.of(4)));
  EXPECT_TRUE(is_free(rows.of(3)));
  s.unlock();
  for (uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(is_free(rows.of(i)));
}

// LOCKSET-2: sets that have locks in common, in all orders, and no threads wait in a circle.
TEST(lock_set, no_threads_wait_in_a_circle) {
  row_locks rows(6);
  std::vector<uint64_t> counters(6);
  constexpr unsigned threads = 4, rounds = 4000;
  {
    std::vector<std::jthread> crew;
    for (unsigned t = 0; t < threads; ++t)
      crew.emplace_back([&, t] {
        dice d(t);
        lock_set s;
        for (unsigned i = 0; i < rounds; ++i) {
          uint64_t mine[3];
          s.clear();
          for (uint64_t& row : mine) s.add(rows.of(row = d.below(6)));
          s.lock();
          for (const uint64_t row : mine) ++counters[row];
          s.unlock();
        }
      });
  }
  uint64_t all = 0;
  for (const uint64_t n : counters) all += n;
  EXPECT_EQ(all, uint64_t{3} * threads * rounds);
}

TEST(node_lock, readers_share_and_writers_do_not) {
  node_lock lock;
  lock.lock_shared();
  std::async(std::launch::async, [&] {
    lock.lock_shared();
    lock.unlock_shared();
  }).get();
  std::atomic<bool> inside{false};
  waiting_thread writer([&] {
    lock.lock();
    inside = true;
    lock.unlock();
  });
  EXPECT_TRUE(writer.comes_to_spin());
  EXPECT_FALSE(inside);
  lock.unlock_shared();
  writer.join();
  EXPECT_TRUE(inside);

  uint64_t value = 0, wrong = 0;
  {
    std::vector<std::jthread> crew;
    std::atomic<uint64_t> odd{0};
    for (int t = 0; t < 3; ++t)
      crew.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          lock.lock();
          ++value;
          ++value;
          lock.unlock();
          lock.lock_shared();
          odd += value % 2;
          lock.unlock_shared();
        }
      });
    crew.clear();
    wrong = odd;
  }
  EXPECT_EQ(value, 30'000U);
  EXPECT_EQ(wrong, 0U);
}

TEST(lock_table, numbers_are_given_out_once) {
  lock_table t;
  t.adopt({0, 2, 5, 1500});
  std::vector<uint32_t> taken{0, 2, 5, 1500};
  for (int i = 0; i < 3000; ++i) taken.push_back(t.take());
  std::ranges::sort(taken);
  EXPECT_EQ(std::ranges::adjacent_find(taken), taken.end());
  EXPECT_LT(taken.back(), 3100U);  // the gaps were used
  for (const uint32_t n : taken) {
    t.of(n).lock();
    t.of(n).unlock();
  }
  t.give_back(7);
  EXPECT_EQ(t.take(), 7U);
}

struct row {
  uint64_t number;
};
struct root {
  row_table<section_store, row>::head rows;
};

// ROWS-1, ROWS-2: after any section there is a table with the first rows, and it continues to
// grow.
TEST(row_table, pages_are_whole) {
  section_store s;
  using table = row_table<section_store, row>;
  const auto at = s.root<root>();
  std::vector<uint64_t> rows{0};  // after each section
  {
    table t;
    while (t.size() < 100)
      s.transact([&](section_store::tx& tx) {
        t.add(tx, tx.edit(at, &root::rows), 100 - t.size(),
              [](uint64_t i, row& r) { r.number = i; });
      });
    EXPECT_EQ(s.sections(), 1 + 4U);  // 30, 30, 30 and 10
    rows = {0, 30, 60, 90, 100};
  }
  for (size_t n = rows.size(); n-- > 0;) {
    s.back_to(1 + n);
    const table t(s.view(), s.view().get(at).rows);
    ASSERT_EQ(t.size(), rows[n]);
    for (uint64_t i = 0; i < t.size(); ++i) ASSERT_EQ(s.view().get(t[i]).number, i);
  }
  table t;
  for (int i = 0; i < 3; ++i)
    s.transact([&](section_store::tx& tx) {
      t.add(tx, tx.edit(at, &root::rows), 40, [](uint64_t n, row& r) { r.number = n; });
    });
  EXPECT_EQ(t.size(), 90U);
  auto head = s.view().get(at).rows;
  ++head.rows;
  EXPECT_THROW(table(s.view(), head), std::runtime_error);
  uint64_t forgotten = 0;
  while (s.transact([&](section_store::tx& tx) {
    return t.take_away(tx, tx.edit(at, &root::rows), [&](const row&) { ++forgotten; });
  })) {
  }
  EXPECT_EQ(forgotten, 90U);
  EXPECT_EQ(s.objects(), 0U);
}

}  // namespace
}  // namespace scute::test
