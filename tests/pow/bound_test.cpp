// SPDX-License-Identifier: BSD-3-Clause
// POW-17: how large a file becomes that is written over and over again.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "files.hpp"
#include "plain_medium.hpp"
#include "pow/store.hpp"
#include "store_fixture.hpp"
#include "support/wait.hpp"

namespace scute::core::pow {
namespace {

class Bound : public ::testing::TestWithParam<std::tuple<protection, double>> {
 protected:
  // Segments that come on top, as docs/reference/limits.md has it. When the file grows, those in
  // use are at most what counts divided by the share, and those in hand; as many are free as are
  // kept back (one more for each further thread); and one growth comes on top.
  static constexpr uint64_t spare = segments_in_hand + static_cast<uint64_t>(need::ordinary) + 8;
  static_assert(spare == 15);
};
INSTANTIATE_TEST_SUITE_P(, Bound,
                         ::testing::Combine(::testing::Values(protection::none, protection::sealed,
                                                              protection::always),
                                            ::testing::Values(0.3, 0.5, 0.65)));

TEST_P(Bound, HoldsAtEveryMomentWithoutABackground) {
  const auto [protect, share] = GetParam();
  const uint64_t segment = protect != protection::none ? 9 * head_page : head_page, most = 400;
  std::vector<std::byte> memory(first_segment + most * segment + head_page);
  void* at = memory.data();
  size_t room = memory.size();
  std::align(head_page, room - head_page, at, room);
  const std::span bytes(static_cast<std::byte*>(at), memory.size() - head_page);
  shape how;
  how.protect = protect;
  how.segment_size = segment;
  how.segments = segments_least;
  store_options w;
  w.limit.max_size = bytes.size();
  w.limit.bounded = true;
  w.limit.max_live_share = share;
  const auto db = store::create(std::make_unique<plain_medium>(bytes), "plain", how, w);
  cells c;
  c.t = &db->attach("cells", 7, 0, true, c);
  std::mt19937_64 random(11);
  const space& in = *db->parts().space;
  uint64_t largest = 0, most_live = 0;  // the live bytes may become less, and the file stays
  for (uint64_t i = 0; i < 12'000; ++i) {
    // Most of it changes a few; some of it was written long ago.
    const uint64_t index = i < 80 ? i : random() % 4 == 0 ? random() % 80 : random() % 8;
    section s(db->parts(), durability::strict);
    c.put(s, index, std::string(50 + random() % 600, static_cast<char>('a' + i % 26)));
    s.commit();
    largest = std::max(largest, in.count());
    most_live = std::max(most_live, in.live_bytes());
    ASSERT_LE(static_cast<double>(in.count() * segment),
              static_cast<double>(most_live) / share + static_cast<double>(spare * segment))
        << i;
  }
  EXPECT_LT(largest, most);
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

// Sections that all wait to have the file grow: one of them does, and the others look again.
TEST(Herd, GrowsOnce) {
  constexpr uint64_t segment = 9 * head_page, most = 100, threads = 5;
  std::vector<std::byte> memory(first_segment + most * segment + head_page);
  void* at = memory.data();
  size_t room = memory.size();
  std::align(head_page, room - head_page, at, room);
  const std::span bytes(static_cast<std::byte*>(at), memory.size() - head_page);
  shape how;
  how.segment_size = segment;
  how.segments = segments_least;
  store_options w;
  w.limit.max_size = bytes.size();
  w.limit.bounded = true;
  const auto db = store::create(std::make_unique<plain_medium>(bytes), "plain", how, w);
  state& s = db->parts();
  std::array<cells, threads + 1> all;
  for (uint64_t t = 0; t <= threads; ++t)
    all[t].t = &db->attach("cells " + std::to_string(t), 7, 0, true, all[t]);
  // Until only the segments that are kept back are free.
  for (uint64_t i = 0; s.space->free_count() > s.space->stays(need::ordinary); ++i) {
    section one(s, durability::strict);
    all[threads].put(one, i, std::string(20'000, 'a'));
    one.commit();
  }
  ASSERT_EQ(s.count.growths.load(), 0U);
  std::vector<std::thread> running;
  std::array<std::atomic<pid_t>, threads> numbers{};
  {
    const locked guard(s.head_lock);
    for (uint64_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        numbers[t] = gettid();
        section one(s, durability::strict);
        all[t].put(one, 0, "text");
        one.commit();
      });
    for (const auto& number : numbers) test::wait_until([&] { return test::sleeps(number); });
    EXPECT_EQ(s.space->count(), segments_least);
  }
  for (std::thread& t : running) t.join();
  EXPECT_EQ(s.count.growths.load(), 1U);
  EXPECT_EQ(s.space->count(), segments_least + s.limit.growth);
}

}  // namespace
}  // namespace scute::core::pow

namespace scute::pow {
namespace {

class BoundOfFiles : public test::pow_files {};
INSTANTIATE_TEST_SUITE_P(, BoundOfFiles, test::memory_and_disk(), test::name_of_place);

TEST_P(BoundOfFiles, HoldsWithThreads) {
  options o = small();
  o.flags = 0;
  o.size = 1 << 20;
  o.max_size = 256 << 20;
  const uint64_t threads = 3, rounds = GetParam() == test::scratch::memory ? 6000 : 600;
  store db(path, o);
  map<uint64_t, std::string> all(db, "all");
  std::vector<std::thread> running;
  for (uint64_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (uint64_t i = 0; i < rounds; ++i) {
        auto s = db.begin(i % 3 == 2 ? later : strict, m);
        all.edit(t * 100 + i % 40) = std::string(3000, static_cast<char>('a' + i % 26));
        s.commit();
      }
    });
  for (auto& t : running) t.join();
  const scute_pow_info i = db.info();
  EXPECT_LE(i.file_size, 2 * i.live_bytes + (15 + threads) * i.segment_size);
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

// Little that counts, and threads that need room all at once.
TEST_P(BoundOfFiles, HoldsInAHerd) {
  const bool memory = GetParam() == test::scratch::memory;
  options o = small();
  o.flags = 0;
  o.size = 1 << 20;
  o.max_size = 256 << 20;
  for (const auto& [protect, threads] :
       {std::pair<scute_pow_protection, uint64_t>{SCUTE_POW_NONE, 8},
        {SCUTE_POW_SEALED, 8},
        {SCUTE_POW_ALWAYS, 8},
        {SCUTE_POW_NONE, 24},
        {SCUTE_POW_SEALED, 24},
        {SCUTE_POW_ALWAYS, 24}}) {
    o.protection = protect;
    const std::string name = path + std::to_string(threads) + "-" + std::to_string(protect);
    store db(name, o);
    map<uint64_t, std::string> all(db, "all");
    std::vector<std::mutex> locks(threads);
    {
      auto s = db.section(m);
      for (uint64_t k = 0; k < threads * 16; ++k) all.edit(k) = std::string(3000, 'a');
      s.commit();
    }
    std::vector<std::thread> running;
    for (uint64_t t = 0; t < threads; ++t)
      running.emplace_back([&, t, threads = threads] {
        for (uint64_t i = 0; i < (memory ? 24'000 : 1'200) / threads; ++i) {
          auto s = db.section(locks[t]);
          all.edit(t * 16 + i % 16) = std::string(3000, static_cast<char>('a' + i % 26));
          s.commit();
        }
      });
    for (auto& t : running) t.join();
    const scute_pow_info i = db.info();
    EXPECT_LE(i.file_size, 2 * i.live_bytes + (15 + threads) * i.segment_size)
        << i.segments << " segments for " << i.live_bytes << " bytes of " << threads << " threads";
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  }
}

}  // namespace
}  // namespace scute::pow
