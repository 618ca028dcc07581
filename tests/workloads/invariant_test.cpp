// SPDX-License-Identifier: BSD-3-Clause
// check() of each map notices what it is there for: every invariant is broken once, in plain DRAM.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "workloads/maps/paper_sizes.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::test {
namespace {

using workloads::volatile_store;

// A map of a few dozen keys, and the nodes that tests break, from the top.
template <template <class> class Map>
class broken {
 public:
  using map = Map<volatile_store>;
  using root_type = typename map::root;

  broken() : root_(store_.root<root_type>()), map_(root_) {
    store_.transact([&](auto& t) {
      for (uint64_t i = 1; i <= 60; ++i) map_.insert(t, 10 * i, map::value::of(i));
    });
    EXPECT_EQ(map_.check(store_.view()), "");
  }
  ~broken() {
    store_.transact([&](auto& t) { map_.clear(t); });
  }
  broken(const broken&) = delete;
  broken& operator=(const broken&) = delete;

  root_type& root() { return *root_.address(); }
  // Sets `field` to `wrong` for the duration of the call; check() must report a text with `what`
  // in it.
  template <class T>
  void expect(const char* what, T& field, const std::type_identity_t<T>& wrong) {
    const T right = field;
    field = wrong;
    const std::string said = map_.check(store_.view());
    EXPECT_NE(said.find(what), std::string::npos) << "it says: " << said;
    field = right;
    EXPECT_EQ(map_.check(store_.view()), "");
  }

 private:
  volatile_store store_;
  volatile_store::ptr<root_type> root_;
  map map_;
};

TEST(check, ctree) {
  broken<workloads::paper_ctree> b;
  auto& top = *b.root().top.child.address();
  b.expect("neither in use nor empty", b.root().used, 2);  // CTREE-4
  b.expect("tests bit", top.entries[1].child.address()->bit, top.bit);
  b.expect("tests bit", top.bit, 64);              // CTREE-1
  b.expect("do not agree", top.bit, top.bit + 1);  // CTREE-2
  auto* leaf = &top.entries[0];
  while (leaf->child) leaf = &leaf->child.address()->entries[0];
  auto turned = top;
  std::swap(turned.entries[0], turned.entries[1]);
  b.expect("wrong side", top, turned);  // CTREE-3
  b.expect("do not agree", leaf->key, leaf->key | uint64_t{1} << 60);
}

TEST(check, rbtree) {
  broken<workloads::paper_rbtree> b;
  auto& top = *b.root().top.address();
  auto& left = *top.links.child[0].address();
  auto& right = *top.links.child[1].address();
  b.expect("topmost node is red", top.links.red, 1);  // RBTREE-3
  b.expect("neither red nor black", left.links.red, 2);
  b.expect("more black nodes", left.links.red, 1 - left.links.red);  // RBTREE-5
  b.expect("not the parent's", left.links.parent, {});               // RBTREE-2
  b.expect("not the parent's", top.links.parent, top.links.child[0]);
  b.expect("do not ascend", left.key, top.key);  // RBTREE-1
  b.expect("do not ascend", right.key, 5);
  b.expect("more black nodes", top.links.child[1], {});
  b.expect("not the parent's", right.links.child[1], b.root().top);
  // The way of the highest keys ends in a red node: make its parent red as well.
  auto* parent = &right;
  while (parent->links.child[1].address()->links.child[1])
    parent = parent->links.child[1].address();
  ASSERT_EQ(parent->links.child[1].address()->links.red, 1U);
  b.expect("red below red", parent->links.red, 1);  // RBTREE-4
}

TEST(check, btree) {
  broken<workloads::paper_btree> b;
  auto& top = *b.root().top.address();
  auto& inner = *top.children[0].address();
  ASSERT_GE(top.head.level, 2U);
  auto& leaf = *inner.children[0].address();
  b.expect("is empty", top.head.count, 0);
  b.expect("more levels", top.head.level, 40);
  b.expect("another level", inner.head.level, 0);       // BTREE-3
  b.expect("too few or too many", leaf.head.count, 2);  // BTREE-1
  b.expect("too few or too many", leaf.head.count, 8);
  b.expect("too few or too many", inner.head.count, 0);
  b.expect("do not ascend", leaf.head.keys[1], leaf.head.keys[0]);  // BTREE-2
  b.expect("do not ascend", inner.children[1].address()->head.keys[0], inner.head.keys[0]);
  b.expect("beyond the parent's", leaf.head.keys[leaf.head.count - 1], inner.head.keys[0]);
  b.expect("missing", inner.children[1], {});  // BTREE-4
  b.expect("another level", inner.children[1], b.root().top);
}

TEST(check, skiplist) {
  broken<workloads::paper_skiplist> b;
  auto& first = *b.root().next[0].address();
  auto& second = *first.next[0].address();
  b.expect("SKIP-3", first.next[23], b.root().next[0]);
  b.expect("SKIP-2", first.key, second.key);
  b.expect("SKIP-1", b.root().next[1], {});
  b.expect("SKIP-1", b.root().next[0], first.next[0]);
}

TEST(check, rtree) {
  broken<workloads::paper_rtree> b;
  auto& top = *b.root().top.address();
  uint64_t slot = 0;
  while (!top.next[slot]) ++slot;
  auto& child = *top.next[slot].address();
  b.expect("RTREE-1", top.level, 9);
  b.expect("RTREE", child.level, top.level);
  b.expect("RTREE-2", top.prefix, top.prefix | 1);
  b.expect("RTREE-2", child.prefix, child.prefix ^ uint64_t{1} << 62);
  b.expect("RTREE-4", top.first[0], top.first[1]);
  b.expect("RTREE-4", top.first[0], 512);
  b.expect("RTREE-2", top.next[slot == 0 ? 1 : slot - 1], top.next[slot]);
}

TEST(check, hashmap) {
  broken<workloads::paper_hashmap> b;
  uint64_t number = 0;
  while (!b.root().shards[number]) ++number;
  auto& shard = *b.root().shards[number].address();
  auto& segment = *shard.pages[0].address()->segments[0].address();
  uint64_t bucket = 0;
  while (!segment.buckets[bucket]) ++bucket;
  auto& entry = *segment.buckets[bucket].address();
  b.expect("HASHMAP-4", shard.sampled, shard.sampled + 1);
  b.expect("HASHMAP-3", shard.doublings, 15);
  b.expect("HASHMAP-1", entry.key, entry.key + 1);
  b.expect("HASHMAP-2", entry.next, segment.buckets[bucket]);
  b.expect("HASHMAP-1", segment.buckets[(bucket + 1) % 32], segment.buckets[bucket]);
}

}  // namespace
}  // namespace scute::test
