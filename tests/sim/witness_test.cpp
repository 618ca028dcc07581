// SPDX-License-Identifier: BSD-3-Clause
// Power failures in a program that another process runs: right recoveries are found right, and
// planted bugs are noticed.
#include "crash/witness.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "crash/story.hpp"
#include "feed/run.hpp"
#include "schemes/hoop.hpp"
#include "schemes/spec_hpmt.hpp"
#include "schemes/undo.hpp"

namespace scute::sim {
namespace {

constexpr uint64_t place = uint64_t{1} << 40, bytes = 5 * uint64_t{page_bytes};

// A program with marks, as a front end hands it over. Its memory is not zero when it starts.
witness::crash_result play(const std::string& scheme_name, unsigned seed,
                           const std::function<void(scheme&)>& prepare = nullptr) {
  run to(small_machine(1), scheme_name);
  if (prepare) prepare(to.by());
  to.watch_crashes([](uint64_t address, uint64_t n) {
    std::vector<uint64_t> words(n / 8);
    for (size_t i = 0; i < words.size(); ++i) words[i] = address + i * 8;
    return words;
  });
  to.take(mark::persistent, place, bytes);
  to.take(mark::start, 0, 0);
  std::mt19937 random(seed);
  uint64_t value = 0;
  for (int t = 0; t < 40; ++t) {
    to.take(mark::begin, 0, 0);
    for (unsigned n = random() % 8 + 1; n != 0; --n) {
      const uint64_t page = random() % 3 != 0 ? random() % 2 : random() % 5;
      const uint64_t address = place + page * page_bytes + random() % 6 * 192 + random() % 8 * 8;
      const reference store{address, 8, true};
      to.execute({}, {&store, 1});
      to.stored(address, ++value);
      const reference load{place + random() % (bytes / 64) * 64, 8, false};
      to.execute({}, {&load, 1});
    }
    to.take(mark::end, 0, 0);
  }
  to.take(mark::stop, 0, 0);
  return to.verify(300);
}

TEST(Witness, FindsRightWhatIsRight) {
  for (const scheme_kind& k : scheme_kinds()) {
    if (!k.consistent) continue;
    for (unsigned seed = 1; seed <= 10; ++seed) {
      const witness::crash_result v = play(std::string(k.name), seed);
      EXPECT_EQ(v.wrong, "") << k.name << ", seed " << seed;
      EXPECT_EQ(v.transactions, 40U);
      EXPECT_EQ(v.loose + v.shared, 0U);
      EXPECT_GT(v.crashes, 50U);
    }
  }
}

// True if one of the seeds shows the bug.
bool is_noticed(const std::string& scheme_name, const std::function<void(scheme&)>& plant) {
  for (unsigned seed = 1; seed <= 200; ++seed)
    if (!play(scheme_name, seed, plant).wrong.empty()) return true;
  return false;
}

TEST(Witness, NoticesPlantedBugs) {
  EXPECT_TRUE(is_noticed("no-log", nullptr));
  EXPECT_TRUE(is_noticed(
      "ede", [](scheme& s) { dynamic_cast<undo_logging&>(s).plant_early_commit = true; }));
  EXPECT_TRUE(is_noticed(
      "ede", [](scheme& s) { dynamic_cast<undo_logging&>(s).plant_restore_new = true; }));
  EXPECT_TRUE(
      is_noticed("hoop", [](scheme& s) { dynamic_cast<hoop_like&>(s).plant_dirty_home = true; }));
  EXPECT_TRUE(is_noticed(
      "spec", [](scheme& s) { dynamic_cast<spec_hpmt&>(s).rules.line_before_commit = false; }));
}

// A store between transactions is counted, and its word belongs to no transaction.
TEST(Witness, LeavesStoresOutsideOfTransactionsAlone) {
  run to(small_machine(1), "ede");
  to.watch_crashes([](uint64_t, uint64_t n) { return std::vector<uint64_t>(n / 8); });
  to.take(mark::persistent, place, bytes);
  to.take(mark::start, 0, 0);
  const reference store{place, 8, true};
  to.execute({}, {&store, 1});
  to.stored(place, 7);
  to.stored(place - 8, 7);  // not persistent
  to.take(mark::begin, 0, 0);
  to.execute({}, {&store, 1});
  to.stored(place, 8);
  to.take(mark::end, 0, 0);
  to.take(mark::stop, 0, 0);
  const witness::crash_result v = to.verify(10);
  EXPECT_EQ(v.loose, 1U);
  EXPECT_EQ(v.words, 1U);
  EXPECT_EQ(v.wrong, "");
}

// Two cores in one line at once.
TEST(Witness, CountsSharedLines) {
  run to(small_machine(2), "ede");
  to.watch_crashes([](uint64_t, uint64_t n) { return std::vector<uint64_t>(n / 8); });
  to.take(mark::persistent, place, bytes);
  to.take(mark::start, 0, 0);
  const auto put = [&](unsigned core, uint64_t address) {
    to.take(mark::run_on, core, 0);
    const reference store{address, 8, true};
    to.execute({}, {&store, 1});
    to.stored(address, 1);
  };
  to.take(mark::begin, 0, 0);
  put(0, place);
  to.take(mark::run_on, 1, 0);
  to.take(mark::begin, 0, 0);
  put(1, place + 64);
  EXPECT_EQ(to.verify(0).shared, 0U);
  put(1, place + 8);
  EXPECT_EQ(to.verify(0).shared, 1U);
}

}  // namespace
}  // namespace scute::sim
