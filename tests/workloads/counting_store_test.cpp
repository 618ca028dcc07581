// SPDX-License-Identifier: BSD-3-Clause
// The counts of the counting store, and the promises of the head comments of the lists, the radix
// tree and the hash map about the changes of one transaction.
#include "workloads/stores/counting_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "workloads/maps/paper_sizes.hpp"

namespace scute::workloads {

void PrintTo(const transaction_counts& c, std::ostream* out) {
  *out << "new " << c.new_objects << '/' << c.new_bytes << " modified " << c.modified_objects << '/'
       << c.modified_bytes << " freed " << c.freed_objects << '/' << c.freed_bytes;
}

namespace {

using S = counting_store;
template <class T>
using ptr = S::ptr<T>;

struct block {
  uint64_t word;
  uint64_t words[15];
};

TEST(counting_store, counts_each_byte_once) {
  S s;
  const ptr<block> root = s.root<block>();
  s.transact([&](S::tx& t) {
    t.edit(root, &block::words, 2, 4)[0] = 1;  // words 2 to 5
    t.edit(root, &block::words, 4) = 1;
    t.edit(root, &block::words, 5, 3)[0] = 1;  // 5 to 7
    t.edit(root, &block::word) = 1;
    t.edit(root, &block::words, 14) = 1;
  });
  EXPECT_EQ(s.last(), (transaction_counts{0, 0, 1, 8 * 8, 0, 0}));
  s.transact([&](S::tx& t) {
    t.edit(root, &block::words, 3) = 1;
    t.open(root).word = 1;
  });
  EXPECT_EQ(s.last(), (transaction_counts{0, 0, 1, sizeof(block), 0, 0}));
  EXPECT_EQ(s.total(), (transaction_counts{0, 0, 2, 64 + sizeof(block), 0, 0}));
  EXPECT_EQ(s.transactions(), 2U);
  s.reset();
  EXPECT_EQ(s.total(), transaction_counts{});
}

// Stores of a word of 8 bytes or less, each time, but not into new objects.
TEST(counting_store, counts_updates) {
  struct mixed {
    uint32_t halves[5];
    uint8_t byte;
    uint64_t words[3];
  };
  S s;
  const ptr<mixed> root = s.root<mixed>();
  s.transact([&](S::tx& t) {
    t.edit(root, &mixed::byte) = 1;
    t.edit(root, &mixed::byte) = 2;
    t.edit(root, &mixed::halves, 1, 4)[0] = 1;
    t.edit(root, &mixed::words)[0] = 1;  // all three
    t.edit(t.make<mixed>().at, &mixed::byte) = 1;
  });
  EXPECT_EQ(s.updates(), 2U + 4 + 3);
  EXPECT_EQ(s.last().modified_bytes, 1U + 16 + 24);
  s.transact([&](S::tx& t) { t.open(root).byte = 3; });
  EXPECT_EQ(s.updates(), 9U + (sizeof(mixed) + 7) / 8);
  s.reset();
  EXPECT_EQ(s.updates(), 0U);
}

TEST(counting_store, knows_new_and_freed_objects) {
  S s;
  ptr<block> at, other;
  const bool result = s.transact([&](S::tx& t) {
    at = t.make<block>().at;
    other = t.make<block>().at;
    t.edit(at, &block::word) = 1;
    t.destroy(t.make<block>().at);
    return true;
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(s.last(), (transaction_counts{2, 2 * sizeof(block), 0, 0, 0, 0}));
  s.transact([&](S::tx& t) {
    t.edit(at, &block::word) = 2;
    t.destroy(at);
    t.destroy(other);
    // Perhaps at the address of one that was freed.
    other = t.make<block>().at;
    t.edit(other, &block::word) = 3;
  });
  EXPECT_EQ(s.last(), (transaction_counts{1, sizeof(block), 1, 8, 2, 2 * sizeof(block)}));
  try {
    s.transact([&](S::tx& t) {
      t.edit(other, &block::word) = 4;
      throw 1;
    });
  } catch (int) {
  }
  EXPECT_EQ(s.transactions(), 2U);
  s.transact([&](S::tx& t) { t.destroy(other); });
}

template <class Map>
struct filled {
  explicit filled(uint64_t n) : map(s.root<typename Map::root>()) {
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < n; ++i) {
      keys.push_back(random());
      insert(keys.back());
      most(s.last());
    }
  }
  ~filled() {
    s.transact([&](S::tx& t) { map.clear(t); });
  }
  bool insert(uint64_t k) {
    return s.transact([&](S::tx& t) { return map.insert(t, k, Map::value::of(k)); });
  }
  bool remove(uint64_t k) {
    return s.transact([&](S::tx& t) { return map.remove(t, k); });
  }
  void most(const transaction_counts& c) {
    max.new_objects = std::max(max.new_objects, c.new_objects);
    max.new_bytes = std::max(max.new_bytes, c.new_bytes);
    max.modified_objects = std::max(max.modified_objects, c.modified_objects);
    max.modified_bytes = std::max(max.modified_bytes, c.modified_bytes);
    max.freed_objects = std::max(max.freed_objects, c.freed_objects);
    max.freed_bytes = std::max(max.freed_bytes, c.freed_bytes);
  }

  S s;
  Map map;
  std::vector<uint64_t> keys;
  transaction_counts max;
};

template <class Map>
class replacing : public ::testing::Test {};
using every_map = ::testing::Types<paper_ctree<S>, paper_rbtree<S>, paper_btree<S>,
                                   paper_skiplist<S>, paper_rtree<S>, paper_hashmap<S>>;
TYPED_TEST_SUITE(replacing, every_map);

// At most 16 bytes next to it: the crit-bit tree and the red-black tree have items that are
// edited as one.
TYPED_TEST(replacing, a_value_changes_the_value_only) {
  filled<TypeParam> f(500);
  for (const uint64_t k : f.keys) {
    ASSERT_FALSE(f.insert(k));
    transaction_counts c = f.s.last();
    ASSERT_GE(c.modified_bytes, sizeof(typename TypeParam::value));
    ASSERT_LE(c.modified_bytes, sizeof(typename TypeParam::value) + 16);
    c.modified_bytes = 0;
    ASSERT_EQ(c, (transaction_counts{0, 0, 1, 0, 0, 0}));
  }
  ASSERT_FALSE(f.remove(12345));
  ASSERT_EQ(f.s.last(), transaction_counts{});
}

// One link per level, and none of the bytes next to them. (SKIP-4: the root names the first
// item.)
TEST(skiplist_changes, one_link_per_level) {
  using map = paper_skiplist<S>;
  filled<map> f(2000);
  for (uint64_t k = 0; k < 2000; ++k) {
    const auto links = static_cast<uint64_t>(map::height(k));
    ASSERT_TRUE(f.insert(k));
    ASSERT_EQ(f.s.last().modified_bytes, 8 * links);
    ASSERT_EQ(f.s.last().new_bytes, sizeof(map::node));
    ASSERT_TRUE(f.remove(k));
    ASSERT_EQ(f.s.last().modified_bytes, 8 * links);
    ASSERT_EQ(f.s.last().freed_bytes, sizeof(map::node));
  }
}

// One slot, whatever is split or merged. (RTREE-3)
TEST(rtree_changes, one_slot) {
  filled<paper_rtree<S>> f(3000);
  EXPECT_EQ(f.max, (transaction_counts{2, 2 * 4136, 1, 8, 0, 0}));
  uint64_t merged = 0;
  for (const uint64_t k : f.keys) {
    ASSERT_TRUE(f.remove(k));
    ASSERT_EQ(f.s.last().modified_bytes, 8U);
    ASSERT_EQ(f.s.last().modified_objects, 1U);
    merged += f.s.last().freed_objects == 2;
  }
  EXPECT_GT(merged, 100U);
}

// The table grows a few links at a time: no insertion is a long one.
TEST(hashmap_changes, no_insertion_rewrites_the_table) {
  using map = paper_hashmap<S>;
  filled<map> f(100'000);
  // At most an entry, a segment, a page or shard; three links, a bucket, two words of the shard.
  EXPECT_LE(f.max.new_objects, 4U);
  EXPECT_LE(f.max.new_bytes,
            sizeof(map::entry) + sizeof(map::segment) + sizeof(map::page) + sizeof(map::shard));
  EXPECT_LE(f.max.modified_objects, 5U);
  EXPECT_LE(f.max.modified_bytes, 6 * 8U);
  EXPECT_EQ(f.max.freed_objects, 0U);
  const auto per = [&](uint64_t n) { return static_cast<double>(n) / 100'000; };
  EXPECT_LT(per(f.s.total().modified_objects), 1.6);

  f.s.reset();
  f.max = {};
  for (const uint64_t k : f.keys) {
    ASSERT_TRUE(f.remove(k));
    f.most(f.s.last());
  }
  EXPECT_EQ(f.max, (transaction_counts{0, 0, 2, 16, 1, sizeof(map::entry)}));
  EXPECT_LT(per(f.s.total().modified_bytes), 8 * 1.05);
}

}  // namespace
}  // namespace scute::workloads
