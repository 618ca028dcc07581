// SPDX-License-Identifier: BSD-3-Clause
// Combinations of things that each work alone: threads and the cleaner, sizes at a limit, calls
// inside a section.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "files.hpp"
#include "support/wait.hpp"

namespace scute::pow {
namespace {

class Crossings : public test::pow_files {};

INSTANTIATE_TEST_SUITE_P(, Crossings, test::memory_and_disk(), test::name_of_place);

struct cell {
  static constexpr std::string_view scute_type = "cell";
  uint64_t words[8]{};
};

// An object of every size around the limit goes into a part next to another one, or is refused.
TEST_P(Crossings, LargestObjectsAmongOthers) {
  for (const auto protect : {SCUTE_POW_NONE, SCUTE_POW_ALWAYS}) {
    const std::string file = path + (protect == SCUTE_POW_NONE ? "-none" : "-always");
    options o = small();
    o.protection = protect;
    size_t kept = 0;
    {
      store db(file, o);
      map<uint64_t, std::string> words(db, "words");
      const auto put = [&](size_t n) {
        auto s = db.section(m);
        words.edit(1) = std::string(n, 'x');
        words.edit(2) = "alongside";
        s.commit();
      };
      size_t n = protect == SCUTE_POW_NONE ? 73200 : 63600;
      for (; code_of([&] { put(n); }) == errc{}; n += 8) kept = n;
      EXPECT_GT(kept, 0U);
      EXPECT_EQ(code_of([&] { put(n); }), errc::range);
      db.close();
    }
    store db(file, o);
    const map<uint64_t, std::string> words(db, "words");
    EXPECT_EQ(words.at(1).size(), kept);
    EXPECT_EQ(words.at(2), "alongside");
  }
}

// An object that was edited and erased in one section: its index is another thread's before that
// section has ended.
TEST_P(Crossings, IndexesGoFromThreadToThread) {
  store db(path, small());
  table<cell> cells(db, "cells");
  const uint64_t before = db.info().memory;
  std::mutex other;
  std::atomic<bool> done{false};
  std::thread beside([&] {
    while (!done.load()) {
      auto s = db.section(other);
      for (int i = 0; i < 20; ++i) static_cast<void>(cells.make());
      s.abort();
    }
  });
  for (int round = 0; round < 100; ++round) {
    std::vector<ref<cell>> all;
    auto s = db.section(m);
    for (int i = 0; i < 200; ++i) all.push_back(cells.make());
    s.commit();
    auto t = db.section(m);
    for (const auto r : all) cells.edit(r).words[0] = 1;
    for (const auto r : all) cells.erase(r);
    t.commit();
  }
  done = true;
  beside.join();
  EXPECT_EQ(cells.size(), 0U);
  EXPECT_EQ(db.info().objects, 0U) << "objects that are in no table";
  EXPECT_EQ(db.info().memory, before);
}

// Erased, made and erased again in one section: it goes away once.
TEST_P(Crossings, ErasedTwiceIsCountedOnce) {
  store db(path, small());
  vector<uint64_t> numbers(db, "numbers");
  const auto in_section = [&](auto&& fn) {
    auto s = db.section(m);
    fn();
    s.commit();
  };
  in_section([&] { numbers.push_back(1); });
  const uint64_t before = db.info().memory;
  in_section([&] {
    numbers.pop_back();
    numbers.push_back(2);
    numbers.pop_back();
  });
  in_section([&] { numbers.push_back(3); });
  EXPECT_EQ(db.info().memory, before);
}

// The objects that many threads have left undurable must be named, or made durable. An object of
// the largest size is kept.
TEST_P(Crossings, TheLargestObjectAfterManyThreads) {
  options o = small();
  o.protection = SCUTE_POW_NONE;
  store db(path, o);
  map<uint64_t, std::string> words(db, "words");
  std::shared_mutex lock;
  const auto put = [&](size_t n, durability how) {
    auto s = db.section(lock, how);
    words.edit(1) = std::string(n, 'x');
    s.commit();
  };
  size_t kept = 0;
  for (size_t n = 73000; code_of([&] { put(n, durability::strict); }) == errc{}; n += 8) kept = n;
  ASSERT_GT(kept, 0U);
  // (Each has a lane of its own as long as all of them are there.)
  std::atomic<uint64_t> done{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> all;
  for (uint64_t t = 0; t < 60; ++t) {
    all.emplace_back([&, t] {
      shared<std::shared_mutex> beside(lock);
      auto s = db.section(beside, durability::later);
      words.edit(100 + t) = "small";
      s.commit();
      ++done;
      go.wait(false);
    });
    while (done.load() != t + 1) std::this_thread::yield();
  }
  EXPECT_EQ(code_of([&] { put(kept, durability::later); }), errc{});
  go = true;
  go.notify_all();
  for (std::thread& t : all) t.join();
  db.close();
}

// A thread that waits for a slot holds no lock that the working threads need.
TEST_P(Crossings, MoreThreadsThanSlotsAndOneLock) {
  store db(path, small());
  std::atomic<int> inside{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> all;
  for (int i = 0; i < 127; ++i)
    all.emplace_back([&] {
      auto s = db.section(durability::strict);
      ++inside;
      go.wait(false);
      s.commit();
    });
  while (inside.load() != 127) std::this_thread::yield();
  test::waiting_thread late([&] {
    auto s = db.section(m);
    s.commit();
  });
  EXPECT_TRUE(late.comes_to_wait());
  const bool free = m.try_lock();
  EXPECT_TRUE(free);
  if (free) m.unlock();
  go = true;
  go.notify_all();
  for (std::thread& t : all) t.join();
  late.join();
}

TEST_P(Crossings, CloseInsideASectionIsRefused) {
  {
    store db(path, small());
    auto s = db.section(m);
    EXPECT_EQ(code_of([&] { db.close(); }), errc::invalid);
    s.abort();
    db.close();
  }
  store again(path, small());
}

}  // namespace
}  // namespace scute::pow
