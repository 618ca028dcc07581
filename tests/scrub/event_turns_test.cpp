// SPDX-License-Identifier: BSD-3-Clause
// "Called for each event in no particular thread, [...] never two at a time for one pool":
// threads that repair at once, a scrub concurrently with them, and a callback that takes its
// time.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "scrub/scrubbing.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

// Counts the threads inside, and the repairs by others meanwhile.
struct listener {
  std::atomic<int> inside{0}, most{0};
  std::atomic<uint64_t> reported{0}, places{0}, repairs{0}, beside{0};

  static void on_event(void* arg, const scute_event* e) {
    auto& me = *static_cast<listener*>(arg);
    const int now = ++me.inside;
    if (int seen = me.most; now > seen) me.most.compare_exchange_strong(seen, now);
    const uint64_t before = me.repairs;
    pause(std::chrono::microseconds(300));
    if (me.repairs != before) ++me.beside;
    ++me.reported;
    me.places += e->count + e->dropped;
    --me.inside;
  }
};

class event_turns : public testing::TestWithParam<scute_engine> {};

// EVENT-2.
TEST_P(event_turns, NeverTwoAtATime) {
  SCUTE_RANDOM(random);
  constexpr unsigned crew = 4;
  listener ear;
  known_pool f;
  scute_options o = options(8 * mib, {SCUTE_PROTECT_MLPC, GetParam()});
  o.rows = 4;  // One row holds what is damaged, so nothing is lost.
  o.event = &listener::on_event;
  o.event_arg = &ear;
  f.create(o);
  std::vector<std::vector<scute_oid>> own(crew);
  for (unsigned k = 0; k < 40; ++k)
    for (auto& mine : own) mine.push_back(f.add(3000));
  SCUTE_OKAY(scute_drain(f));
  std::deque<random_source> sources;
  for (unsigned t = 0; t < crew; ++t) sources.emplace_back(random);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < crew; ++t)
    threads.emplace_back([&, t] {
      random_source& dice = sources[t];
      for (int round = 0; round < 300 || (ear.beside < 20 && round < 100'000); ++round) {
        const scute_oid oid = own[t][dice.between(0, own[t].size() - 1)];
        scute_injection flip;
        scute_injection_init(&flip);
        flip.offset = f.offset_of(oid) + dice.between(0, 2999);
        EXPECT_EQ(scute_inject(f, &flip, nullptr, nullptr, nullptr), SCUTE_OK) << scute_errormsg();
        const void* at = nullptr;
        EXPECT_EQ(scute_get_verified(f, oid, &at), SCUTE_OK) << scute_errormsg();
        ++ear.repairs;
      }
    });
  std::thread scrubber([&] {
    while (!done) {
      scute_report r{};
      r.struct_size = sizeof r;
      EXPECT_EQ(scute_scrub(f, nullptr, &r), SCUTE_OK) << scute_errormsg();
    }
  });
  for (auto& t : threads) t.join();
  done = true;
  scrubber.join();
  f.expect_sound();
  f.expect_objects();
  EXPECT_EQ(ear.most, 1);
  // Else no thread could have come in a second time.
  EXPECT_GT(ear.reported, 10u);
  EXPECT_GT(ear.beside, 5u) << "others continued while it was called";
  const uint64_t reported = ear.reported;
  f.close();
  EXPECT_EQ(ear.reported, reported) << "events were reported late";
  EXPECT_EQ(ear.inside, 0);
  std::printf("%llu events about %llu places, %llu of them while others repaired\n",
              static_cast<unsigned long long>(reported),
              static_cast<unsigned long long>(ear.places),
              static_cast<unsigned long long>(ear.beside));
}
INSTANTIATE_TEST_SUITE_P(Engine, event_turns, every_engine, engine_name);

}  // namespace
}  // namespace scute::test
