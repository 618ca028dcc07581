// SPDX-License-Identifier: BSD-3-Clause
// The maps that have locks of their own, in every store: against std::map in one thread, and in
// several threads, where each owns some keys and all change the others.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "support/seed.hpp"
#include "workloads/key_family.hpp"
#include "workloads/maps/bplus_tree.hpp"
#include "workloads/maps/locked_map.hpp"
#include "workloads/maps/paper_sizes.hpp"
#include "workloads/workload_stages.hpp"

namespace scute::test {
namespace {

using workloads::payload;

template <class Map, size_t N>
struct on {
  template <class S>
  using map = typename Map::template map<S, payload<N>>;
};
struct bplus_map {
  template <class S, class V>
  using map = workloads::bplus_tree<S, V>;
};
struct rbtree_map {
  template <class S, class V>
  using map = workloads::locked_map<S, workloads::rbtree<S, V>>;
};
struct skiplist_map {
  template <class S, class V>
  using map = workloads::locked_map<S, workloads::skiplist<S, V>>;
};

template <class Stage>
class locked_maps : public ::testing::Test {
 protected:
  using store_type = typename Stage::store_type;
  using model = std::map<uint64_t, uint64_t>;

  template <class Map>
  static model content(const Map& m) {
    model found;
    m.for_each([&](uint64_t k, const auto& v) {
      EXPECT_EQ(v, std::remove_cvref_t<decltype(v)>::of(v.number)) << k;
      EXPECT_TRUE(found.emplace(k, v.number).second) << k;
    });
    return found;
  }
  template <class Map>
  void one_step(Map& m, model& expected, uint64_t k, random_source& random, unsigned removals) {
    using value = typename Map::value;
    const auto there = expected.find(k);
    if (random.between(0, 9) < removals) {
      ASSERT_EQ(m.remove(k), there != expected.end()) << k;
      if (there != expected.end()) expected.erase(there);
      return;
    }
    if (random.one_in(3)) {
      uint64_t got = 0;
      ASSERT_EQ(m.read(k, [&](const value& v) { got = v.number; }), there != expected.end()) << k;
      if (there != expected.end()) {
        ASSERT_EQ(got, there->second);
      }
      return;
    }
    const uint64_t v = random.word();
    ASSERT_EQ(m.insert(k, value::of(v)), there == expected.end()) << k;
    expected[k] = v;
  }

  // Up, down to nothing, and up again; found again in between.
  template <class Kind>
  void play_alone(int steps) {
    using map = typename Kind::template map<store_type>;
    SCUTE_RANDOM(random);
    const auto at = stage.store().template root<typename map::root>();
    auto m = std::make_unique<map>(stage.store(), at);
    model expected;
    const key_list keys = random_keys(random, static_cast<uint64_t>(steps) / 3);
    for (const unsigned removals : {1u, 8u, 3u}) {
      for (int i = 0; i < steps && !HasFatalFailure(); ++i) {
        one_step(*m, expected, keys[random.between(0, keys.size() - 1)], random, removals);
        if (i % 512 == 511) {
          ASSERT_EQ(m->check(), "");
        }
      }
      if (removals == 8)
        for (const uint64_t k : keys) {
          ASSERT_EQ(m->remove(k), expected.erase(k) == 1);
        }
      ASSERT_EQ(m->check(), "");
      ASSERT_EQ(content(*m), expected);
      m.reset();
      stage.reopen();
      m = std::make_unique<map>(stage.store(), at);
      ASSERT_EQ(content(*m), expected);
    }
    m->clear();
    EXPECT_EQ(m->check(), "");
    EXPECT_EQ(stage.objects().value_or(0), 0U);
    EXPECT_TRUE(m->insert(1, map::value::of(2)));
    m->clear();
    stage.verify();
  }

  template <class Kind>
  void play_together(unsigned threads, int steps) {
    using map = typename Kind::template map<store_type>;
    SCUTE_RANDOM(random);
    const auto at = stage.store().template root<typename map::root>();
    auto m = std::make_unique<map>(stage.store(), at);
    std::vector<model> mine(threads);
    std::deque<random_source> randoms;
    for (unsigned t = 0; t < threads; ++t) randoms.emplace_back(random);
    {
      std::vector<std::jthread> crew;
      for (unsigned t = 0; t < threads; ++t)
        crew.emplace_back([&, t] {
          random_source& mine_random = randoms[t];
          for (int i = 0; i < steps && !this->HasFatalFailure(); ++i) {
            // Neighbours belong to different threads, so that these meet in leaves.
            const uint64_t k = mine_random.between(0, 799) * threads + t;
            // The number of keys swings, and with it the height.
            one_step(*m, mine[t], k, mine_random, i / 1000 % 2 == 0 ? 2 : 7);
          }
        });
    }
    model expected;
    for (const model& one : mine) expected.insert(one.begin(), one.end());
    EXPECT_EQ(m->check(), "");
    EXPECT_EQ(content(*m), expected);
    m.reset();
    stage.verify();
    stage.reopen();
    m = std::make_unique<map>(stage.store(), at);
    EXPECT_EQ(content(*m), expected);
    EXPECT_EQ(m->check(), "");
    m->clear();
    EXPECT_EQ(stage.objects().value_or(0), 0U);
  }

  Stage stage;
};
TYPED_TEST_SUITE(locked_maps, workload_stages, workload_stage_name);

TYPED_TEST(locked_maps, bplus_tree) {
  this->template play_alone<on<bplus_map, 8>>(12000);
}
TYPED_TEST(locked_maps, bplus_tree_large_values) {
  this->template play_alone<on<bplus_map, 256>>(8000);
}
TYPED_TEST(locked_maps, red_black_tree) {
  this->template play_alone<on<rbtree_map, 8>>(1500);
}
TYPED_TEST(locked_maps, skip_list) {
  this->template play_alone<on<skiplist_map, 8>>(1500);
}
TYPED_TEST(locked_maps, bplus_tree_two_threads) {
  this->template play_together<on<bplus_map, 8>>(2, 12000);
}
// BPLUS-5: no circle, and no object in two transactions at once.
TYPED_TEST(locked_maps, bplus_tree_four_threads) {
  this->template play_together<on<bplus_map, 256>>(4, 8000);
}
TYPED_TEST(locked_maps, red_black_tree_two_threads) {
  this->template play_together<on<rbtree_map, 8>>(2, 4000);
}
TYPED_TEST(locked_maps, skip_list_two_threads) {
  this->template play_together<on<skiplist_map, 8>>(2, 4000);
}

}  // namespace
}  // namespace scute::test
