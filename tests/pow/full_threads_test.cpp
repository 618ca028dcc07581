// SPDX-License-Identifier: BSD-3-Clause
// A full file and several threads (pow/file/format.hpp, POW-4): each has a segment open, and erases
// in it.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "files.hpp"

namespace scute::test {
namespace {

class full_threads : public ::testing::TestWithParam<std::tuple<scute_pow_protection, unsigned>> {
 protected:
  static pow::options small() {
    pow::options o;
    o.medium = SCUTE_MEDIUM_RAM;
    o.protection = std::get<0>(GetParam());
    o.segment_size = o.protection == SCUTE_POW_ALWAYS ? 9 * 4096 : 4 * 4096;
    o.size = o.segment_size * 6;
    o.max_size = 1'500'000;
    return o;
  }
  // False if the file is full.
  template <typename Fn>
  static bool fits(Fn&& fn) {
    try {
      fn();
    } catch (const error& e) {
      if (e.which() != errc::nospc) throw;
      return false;
    }
    return true;
  }
};

TEST_P(full_threads, EachCanErase) {
  const unsigned threads = std::get<1>(GetParam());
  const scratch dir(scratch::memory);
  pow::store db(dir.file("full"), small());
  std::vector<std::unique_ptr<pow::map<int, std::string>>> maps;
  for (unsigned t = 0; t < threads; ++t)
    maps.push_back(std::make_unique<pow::map<int, std::string>>(db, "map " + std::to_string(t)));
  std::vector<std::mutex> locks(threads);
  std::atomic<int> refused{0}, filled{0};
  const auto work = [&](unsigned t) {
    std::minstd_rand random(t + 1);
    auto& map = *maps[t];
    for (int round = 0; round < 25 && refused == 0; ++round) {
      try {
        for (;;) {
          auto s = db.section(locks[t]);
          map.edit(static_cast<int>(random() % 100000)) = std::string(100 + random() % 900, 'x');
          s.commit();
        }
      } catch (const error& e) {
        if (e.which() != errc::nospc) throw;
        ++filled;
      }
      for (size_t n = 1 + map.size() / 20; n != 0 && map.size() != 0; --n) try {
          auto s = db.section(locks[t]);
          auto at = map.lower_bound(static_cast<int>(random() % 100000));
          if (at == map.end()) at = map.begin();
          map.erase((*at).first);
          s.commit();
        } catch (const error& e) {
          if (e.which() != errc::nospc) throw;
          ++refused;
          return;
        }
    }
  };
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) all.emplace_back(work, t);
  for (auto& t : all) t.join();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(filled, static_cast<int>(threads) * 25);
}

// As a cache does it: what does not fit goes in when enough others have gone, one at a time.
TEST_P(full_threads, OneGoesForEachThatDoesNotFit) {
  const unsigned threads = std::get<1>(GetParam());
  const scratch dir(scratch::memory);
  pow::store db(dir.file("full"), small());
  std::vector<std::unique_ptr<pow::map<int, std::string>>> maps;
  for (unsigned t = 0; t < threads; ++t)
    maps.push_back(std::make_unique<pow::map<int, std::string>>(db, "map " + std::to_string(t)));
  std::atomic<int> refused{0}, erased{0};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      std::mutex lock;
      auto& map = *maps[t];
      for (int put = 0; put < 5000 && refused == 0;) try {
          auto s = db.section(lock);
          map.edit(static_cast<int>(random() % 100000)) = std::string(100 + random() % 900, 'x');
          s.commit();
          ++put;
        } catch (const error& e) {
          if (e.which() != errc::nospc) throw;
          if (map.size() == 0) return;  // the others have it all
          try {
            auto s = db.section(lock);
            auto at = map.lower_bound(static_cast<int>(random() % 100000));
            if (at == map.end()) at = map.begin();
            map.erase((*at).first);
            s.commit();
            ++erased;
          } catch (const error& refusal) {
            if (refusal.which() != errc::nospc) throw;
            ++refused;
          }
        }
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(refused, 0);
  EXPECT_GT(erased, 1000);
}

// Each ends, and leaves a segment open that has next to nothing in it.
TEST_P(full_threads, ThreadsThatHaveEndedDoNotFillIt) {
  const unsigned at_once = std::get<1>(GetParam());
  const scratch dir(scratch::memory);
  pow::store db(dir.file("full"), small());
  pow::map<int, std::string> map(db, "map");
  std::mutex lock;
  std::atomic<int> refused{0};
  for (unsigned n = 0; n < 120; n += at_once) {
    std::vector<std::thread> all;
    for (unsigned t = n; t < n + at_once; ++t)
      all.emplace_back([&, t] {
        if (!fits([&] {
              auto s = db.section(lock);
              map.edit(static_cast<int>(t)) = "tiny";
              s.commit();
            }))
          ++refused;
      });
    for (auto& t : all) t.join();
  }
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(map.size(), 120u);
}

// The room that one thread takes for erasing keeps no other thread from its open objects.
TEST_P(full_threads, AnErasingThreadTakesNoRoomFromTheOthers) {
  const unsigned threads = std::get<1>(GetParam());
  const scratch dir(scratch::memory);
  pow::store db(dir.file("full"), small());
  pow::map<int, std::string> map(db, "map");
  std::mutex lock;
  int step = 0;
  std::condition_variable changed;
  std::atomic<int> refused{0}, updated{0};
  const auto put = [&](int key, size_t n) {
    auto s = db.section(lock);
    map.edit(key) = std::string(n, 'x');
    s.commit();
  };
  std::mutex turn;
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (const int at : {1, 3}) {
        std::unique_lock wait(turn);
        changed.wait(wait, [&] { return step >= at; });
        ++(fits([&] { put(100'000 + static_cast<int>(t), 10); }) ? updated : refused);
        changed.notify_all();
      }
    });
  const auto go = [&](int to, int wanted) {
    std::unique_lock wait(turn);
    step = to;
    changed.notify_all();
    changed.wait(wait, [&] { return updated + refused >= wanted; });
  };
  go(1, static_cast<int>(threads));
  int n = 0;
  while (fits([&] { put(n, 1000); })) ++n;
  EXPECT_GT(n, 100);
  std::thread([&] {
    auto s = db.section(lock);
    map.erase(17);
    s.commit();
  }).join();
  go(3, 2 * static_cast<int>(threads));
  for (auto& t : all) t.join();
  EXPECT_EQ(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(, full_threads,
                         ::testing::Combine(::testing::Values(SCUTE_POW_NONE, SCUTE_POW_SEALED,
                                                              SCUTE_POW_ALWAYS),
                                            ::testing::Values(1U, 4U, 8U)));

}  // namespace
}  // namespace scute::test
