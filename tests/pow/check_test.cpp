// SPDX-License-Identifier: BSD-3-Clause
// Checks in a program that continues to run.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "files.hpp"

namespace scute::pow {
namespace {

class Checks : public test::pow_files {};
INSTANTIATE_TEST_SUITE_P(, Checks, test::memory_and_disk(), test::name_of_place);

TEST_P(Checks, DuringSectionsFindNothing) {
  for (const auto protect : {SCUTE_POW_NONE, SCUTE_POW_SEALED, SCUTE_POW_ALWAYS}) {
    options o = small();
    o.protection = protect;
    o.flags = SCUTE_POW_NEW;  // and a cleaner
    const std::string file = folder.file(("checks" + std::to_string(protect) + ".pow").c_str());
    store db(file, o);
    constexpr uint64_t threads = 3;
    std::vector<std::unique_ptr<map<uint64_t, std::string>>> maps;
    for (uint64_t t = 0; t < threads; ++t)
      maps.push_back(std::make_unique<map<uint64_t, std::string>>(db, std::to_string(t)));
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> sections{0};
    std::vector<std::thread> running;
    for (uint64_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        std::mutex mine;
        for (uint64_t i = 0; !stop; ++i) {
          auto s = db.begin(i % 3 == 2 ? later : strict, mine);
          maps[t]->edit(i % 40) = std::string(500 + i % 700, 'x');
          if (i % 5 == 0) maps[t]->erase(i * 7 % 40);
          if (i % 11 == 0) s.stream();
          if (i % 13 != 0) s.commit();
          ++sections;
        }
      });
    for (int i = 0; i < 10; ++i) {
      const uint64_t before = sections;
      EXPECT_EQ(db.check(SCUTE_POW_REPAIR | SCUTE_POW_COMPARE,
                         [](const char* what, bool) { ADD_FAILURE() << what; }),
                0U);
      while (sections < before + 20) std::this_thread::yield();
    }
    stop = true;
    for (auto& t : running) t.join();
  }
}

TEST_P(Checks, InsideASectionTheyAreRefused) {
  store db(path, small());
  auto s = db.section(m);
  EXPECT_EQ(code_of([&] { db.check(); }), errc::invalid);
  s.commit();
  EXPECT_EQ(db.check(), 0U);
}

// The caller has a lock that a section waits for.
TEST_P(Checks, WaitForABoundedTime) {
  store db(path, small());
  std::atomic<bool> begun{false};
  struct reported {
    std::mutex& in;
    std::atomic<bool>& waits;
    void lock() {
      waits = true;
      in.lock();
    }
    void unlock() { in.unlock(); }
  } slow{m, begun};
  std::thread other;
  {
    const std::lock_guard hold(m);
    other = std::thread([&] { db.section(slow).commit(); });
    while (!begun) std::this_thread::yield();
    EXPECT_EQ(code_of([&] { db.check(); }), errc::busy);
  }
  other.join();
  EXPECT_EQ(db.check(), 0U);
}

}  // namespace
}  // namespace scute::pow
