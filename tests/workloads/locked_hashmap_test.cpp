// SPDX-License-Identifier: BSD-3-Clause
// The hash map with several threads at it: what one thread did to its keys is what it finds, values
// are never half of one transaction, and no increment is lost.
#include "workloads/maps/locked_hashmap.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/seed.hpp"
#include "workloads/stages.hpp"
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
#include "support/wait.hpp"
#include "workloads/pmemobj_stage.hpp"
#endif

namespace scute::test {
namespace {

using namespace std::chrono_literals;

// Nine words that belong together: a mixture of two values is noticed.
struct record {
  uint64_t number;
  uint64_t marks[8];

  static record of(uint64_t key, uint64_t number) {
    record r{number, {}};
    for (uint64_t i = 0; i < 8; ++i) r.marks[i] = mark(key, number, i);
    return r;
  }
  bool sound(uint64_t key) const {
    for (uint64_t i = 0; i < 8; ++i)
      if (marks[i] != mark(key, number, i)) return false;
    return true;
  }
  static uint64_t mark(uint64_t key, uint64_t number, uint64_t i) {
    return workloads::key_hash(key ^ workloads::key_hash(number + i));
  }
};

template <class Stage>
class locked_hashmap : public ::testing::Test {
 protected:
  using store_type = typename Stage::store_type;
  using map_type = workloads::locked_hashmap<store_type, record>;
  using plain_type = typename map_type::map;
  using model = std::map<uint64_t, uint64_t>;

  void SetUp() override { open(); }
  void TearDown() override {
    shared_map.reset();
    plain_type plain(place());
    stage.store().transact([&](auto& t) { plain.clear(t); });
    EXPECT_EQ(stage.objects().value_or(0), 0U);
  }
  auto place() { return stage.store().template root<typename map_type::root>(); }
  void open() { shared_map = std::make_unique<map_type>(stage.store(), place()); }

  // Own keys have their thread in the low bits; shared ones are below shared_keys and even.
  static constexpr uint64_t shared_keys = 32;
  static uint64_t own_key(uint64_t thread, uint64_t i) {
    return (i + shared_keys) << 3 | thread << 1 | 1;
  }

  void one_thread(uint64_t me, uint64_t threads, random_source& random, int steps, model& mine,
                  model& increments) {
    for (int i = 0; i < steps; ++i) {
      const uint64_t k = own_key(me, random.between(0, 999)), number = random.word();
      const auto there = mine.find(k);
      record r{};
      switch (random.between(0, 9)) {
        case 0:
        case 1:
        case 2:
          ASSERT_EQ(shared_map->insert(k, record::of(k, number)), there == mine.end());
          mine[k] = number;
          break;
        case 3:
          ASSERT_EQ(shared_map->remove(k), there != mine.end());
          mine.erase(k);
          break;
        case 4:
          ASSERT_EQ(shared_map->update(k, record::of(k, number)), there != mine.end());
          if (there != mine.end()) there->second = number;
          break;
        case 5: {
          const uint64_t shared = random.between(0, shared_keys - 1) << 1;
          ASSERT_TRUE(shared_map->read_modify_write(shared, [&](record& v) {
            EXPECT_TRUE(v.sound(shared));
            v = record::of(shared, v.number + 1);
          }));
          ++increments[shared];
          break;
        }
        case 6: {  // another thread's key
          const uint64_t other = own_key(random.between(0, threads - 1), random.between(0, 999));
          ASSERT_TRUE(!shared_map->get(other, r) || r.sound(other)) << other;
          break;
        }
        case 7: {
          std::set<uint64_t> seen;
          const uint64_t n = random.between(1, 100);
          const uint64_t found = shared_map->scan(k, n, [&](uint64_t key, const record& v) {
            EXPECT_TRUE(v.sound(key)) << key;
            EXPECT_TRUE(seen.insert(key).second) << key;
          });
          ASSERT_EQ(found, seen.size());
          ASSERT_LE(found, n);
          break;
        }
        default:
          ASSERT_EQ(shared_map->get(k, r), there != mine.end()) << k;
          if (there != mine.end()) {
            ASSERT_EQ(r.number, there->second);
            ASSERT_TRUE(r.sound(k));
          }
      }
    }
  }

  void expect_content(const model& expected) {
    EXPECT_EQ(shared_map->check(), "");
    model content;
    shared_map->for_each([&](uint64_t k, const record& v) {
      EXPECT_TRUE(v.sound(k));
      EXPECT_TRUE(content.emplace(k, v.number).second);
    });
    EXPECT_EQ(content, expected);
  }

  void play(uint64_t threads) {
    SCUTE_RANDOM(random);
    model expected;
    for (uint64_t i = 0; i < shared_keys; ++i) {
      ASSERT_TRUE(shared_map->insert(i << 1, record::of(i << 1, 0)));
      expected[i << 1] = 0;
    }
    std::vector<model> mine(threads), increments(threads);
    std::deque<random_source> randoms;
    for (uint64_t me = 0; me < threads; ++me) randoms.emplace_back(random);
    {
      std::vector<std::jthread> crew;
      for (uint64_t me = 0; me < threads; ++me)
        crew.emplace_back(
            [&, me] { one_thread(me, threads, randoms[me], 6000, mine[me], increments[me]); });
    }
    for (uint64_t me = 0; me < threads; ++me) {
      expected.insert(mine[me].begin(), mine[me].end());
      for (const auto& [k, n] : increments[me]) expected[k] += n;
    }
    expect_content(expected);
    shared_map.reset();
    stage.verify();
    stage.reopen();
    open();
    expect_content(expected);
  }

  Stage stage;
  std::unique_ptr<map_type> shared_map;
};

struct stage_name {
  template <class Stage>
  static std::string GetName(int) {
    if constexpr (std::is_same_v<Stage, volatile_stage>)
      return "in_dram";
    else if constexpr (std::is_same_v<Stage, redo_stage>)
      return "redo";
    else if constexpr (std::is_same_v<Stage, logfree_stage>)
      return "logfree";
    else if constexpr (std::is_same_v<Stage, spec_stage>)
      return "spec";
    else
      return "in_pmemobj";
  }
};
#ifdef SCUTE_TEST_HAVE_PMEMOBJ
using stages =
    ::testing::Types<volatile_stage, redo_stage, logfree_stage, spec_stage, pmemobj_stage>;
#else
using stages = ::testing::Types<volatile_stage, redo_stage, logfree_stage, spec_stage>;
#endif
TYPED_TEST_SUITE(locked_hashmap, stages, stage_name);

TYPED_TEST(locked_hashmap, two_threads) {
  this->play(2);
}
TYPED_TEST(locked_hashmap, four_threads) {
  this->play(4);
}

// A key of another shard than `k`, or of the same.
template <class Map>
uint64_t another_key(uint64_t k, bool same_shard) {
  uint64_t other = k + 1;
  while ((Map::shard_of(other) == Map::shard_of(k)) != same_shard) ++other;
  return other;
}

// LOCKED-2: while one transaction runs, others on other shards end.
TYPED_TEST(locked_hashmap, shards_do_not_wait_for_each_other) {
  auto& map = *this->shared_map;
  const uint64_t a = 1, b = another_key<typename TestFixture::plain_type>(a, false);
  map.insert(a, record::of(a, 0));
  map.insert(b, record::of(b, 0));
  std::future<bool> other;
  ASSERT_TRUE(map.read_modify_write(a, [&](record& v) {
    other = std::async(std::launch::async, [&] {
      record r{};
      return map.get(b, r) && map.update(b, record::of(b, 1)) && map.remove(b) &&
             map.insert(b, record::of(b, 2));
    });
    EXPECT_EQ(other.wait_for(patience()), std::future_status::ready);
    v = record::of(a, 1);
  }));
  EXPECT_TRUE(other.get());
  this->expect_content({{a, 1}, {b, 2}});
}

// LOCKED-1: a thread that reads or writes in the same shard waits, and then sees the committed
// state.
TYPED_TEST(locked_hashmap, a_shard_is_locked_until_commit) {
  auto& map = *this->shared_map;
  const uint64_t a = 1, b = another_key<typename TestFixture::plain_type>(a, true);
  map.insert(a, record::of(a, 0));
  std::atomic<pid_t> reads{0}, writes{0};
  std::future<uint64_t> reader;
  std::future<bool> writer;
  ASSERT_TRUE(map.read_modify_write(a, [&](record& v) {
    v = record::of(a, 7);
    reader = std::async(std::launch::async, [&] {
      reads = ::gettid();
      record r{};
      return map.get(a, r) ? r.number : 0;
    });
    writer = std::async(std::launch::async, [&] {
      writes = ::gettid();
      return map.insert(b, record::of(b, 8));
    });
    wait_until([&] { return sleeps(reads) && sleeps(writes); });
    EXPECT_EQ(reader.wait_for(0ms), std::future_status::timeout);
    EXPECT_EQ(writer.wait_for(0ms), std::future_status::timeout);
  }));
  EXPECT_EQ(reader.get(), 7U);
  EXPECT_TRUE(writer.get());
  this->expect_content({{a, 7}, {b, 8}});
}

// After an exception nothing is left, the lock included.
TYPED_TEST(locked_hashmap, exceptions_abort_and_unlock) {
  auto& map = *this->shared_map;
  map.insert(1, record::of(1, 5));
  EXPECT_THROW(map.read_modify_write(1,
                                     [](record& v) {
                                       if (TypeParam::aborts) v = record::of(1, 6);
                                       throw std::out_of_range("enough");
                                     }),
               std::out_of_range);
  record r{};
  EXPECT_TRUE(map.get(1, r));
  EXPECT_EQ(r.number, 5U);
  EXPECT_TRUE(r.sound(1));
  EXPECT_FALSE(map.read_modify_write(2, [](record&) { ADD_FAILURE(); }));
  EXPECT_FALSE(map.update(2, r));
  EXPECT_FALSE(map.get(2, r));
  EXPECT_EQ(r.number, 5U);
}

// A scan from any key sees every key after it, and with a large n nearly every one.
TYPED_TEST(locked_hashmap, scan_has_what_was_asked_for) {
  auto& map = *this->shared_map;
  constexpr uint64_t keys = 3000;
  for (uint64_t k = 0; k < keys; ++k) map.insert(k, record::of(k, k));
  for (uint64_t k = 0; k < keys; k += 37) {
    for (const uint64_t n : {1, 10, 100, 1000}) {
      std::set<uint64_t> seen;
      EXPECT_EQ(map.scan(k, n,
                         [&](uint64_t key, const record& v) {
                           EXPECT_EQ(v.number, key);
                           EXPECT_TRUE(seen.insert(key).second);
                         }),
                n);
      EXPECT_TRUE(n < 100 || seen.contains(k));
    }
  }
  EXPECT_EQ(map.scan(0, 0, [](uint64_t, const record&) { ADD_FAILURE(); }), 0U);
}

}  // namespace
}  // namespace scute::test
