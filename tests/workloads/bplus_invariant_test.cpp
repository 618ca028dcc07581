// SPDX-License-Identifier: BSD-3-Clause
// check() of the B+ tree notices each broken invariant: every one is broken once, in plain DRAM.
// And its locks: a thread that changes a leaf excludes the threads that want that leaf, until
// the commit, and no others.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "support/wait.hpp"
#include "workloads/maps/bplus_tree.hpp"
#include "workloads/maps/paper_sizes.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::test {
namespace {

using workloads::volatile_store;
using value = workloads::payload<8>;
using tree = workloads::bplus_tree<volatile_store, value>;
using nodes = workloads::bplus_nodes<volatile_store, value>;

class bplus_check : public ::testing::Test {
 protected:
  bplus_check() {
    for (uint64_t i = 1; i <= 400; ++i) tree_.insert(10 * i, value::of(i));
    EXPECT_EQ(tree_.check(), "");
  }
  ~bplus_check() override { tree_.clear(); }

  nodes::inner& topmost() { return *nodes::as_inner(root_.address()->top).address(); }
  static nodes::child child_of(nodes::inner& n, unsigned i) { return {n.children[i], n.locks[i]}; }
  template <class T>
  void expect(const char* what, T& field, const std::type_identity_t<T>& wrong) {
    const T right = field;
    field = wrong;
    const std::string said = tree_.check();
    EXPECT_NE(said.find(what), std::string::npos) << "it says: " << said;
    field = right;
    EXPECT_EQ(tree_.check(), "");
  }

  volatile_store store_;
  volatile_store::ptr<tree::root> root_ = store_.root<tree::root>();
  tree tree_{store_, root_};
};

TEST_F(bplus_check, notices) {
  ASSERT_EQ(root_.address()->levels, 3U);
  nodes::inner& top = topmost();
  nodes::inner& middle = *nodes::as_inner(child_of(top, 0)).address();
  nodes::leaf& first = *nodes::as_leaf(child_of(middle, 0)).address();
  nodes::leaf& second = *nodes::as_leaf(child_of(middle, 1)).address();
  expect("impossible number of levels", root_.address()->levels, 0);
  expect("too few or too many entries", first.head.count, 6);  // BPLUS-1
  expect("too few or too many entries", first.head.count, 16);
  expect("too few or too many children", middle.head.count, 5);
  expect("too few or too many children", top.head.count, 1);
  expect("do not ascend", first.head.keys[1], first.head.keys[0]);  // BPLUS-2
  expect("beyond the parent's", second.head.keys[0], 5);
  expect("beyond the parent's", middle.head.keys[0], second.head.keys[0] + 1);
  expect("do not ascend", middle.head.keys[1], middle.head.keys[0]);
  expect("does not lead to", first.next, second.next);  // BPLUS-3
  expect("a child is missing", middle.children[1], 0);
  expect("two nodes have one lock", middle.locks[1], middle.locks[0]);  // BPLUS-4
  nodes::leaf* last = &first;
  while (last->next) last = last->next.address();
  expect("leads on", last->next, nodes::as_leaf(child_of(middle, 0)));
}

// A store whose transactions can be stopped before they commit.
class halting_store : public volatile_store {
 public:
  template <class Lock, class F>
  auto section(Lock& lock, F&& body) {
    const std::lock_guard<Lock> hold(lock);
    auto result = transact(std::forward<F>(body));
    if (armed.exchange(false)) halt();
    return result;
  }
  std::function<void()> halt;  // before the next commit, once armed
  std::atomic<bool> armed{false};
};

TEST(bplus_locks, are_held_until_the_commit) {
  using map = workloads::bplus_tree<halting_store, value>;
  halting_store s;
  map m(s, s.root<map::root>());
  for (uint64_t i = 1; i <= 400; ++i) m.insert(10 * i, value::of(i));
  std::future<bool> other;
  bool found = false;
  std::optional<waiting_thread> same;
  s.halt = [&] {
    same.emplace([&] { found = m.read(11, [](const value&) {}); });
    other = std::async(std::launch::async, [&] { return m.remove(3000); });
    EXPECT_EQ(other.wait_for(patience()), std::future_status::ready);
    EXPECT_TRUE(same->comes_to_spin());
  };
  s.armed = true;
  EXPECT_TRUE(m.insert(11, value::of(1)));
  same->join();
  EXPECT_TRUE(found);
  EXPECT_TRUE(other.get());
  EXPECT_EQ(m.check(), "");
  m.clear();
}

// The numbers of locks are found again, none is given out twice.
TEST(bplus_locks, numbers_come_back) {
  volatile_store s;
  const auto at = s.root<tree::root>();
  {
    tree first(s, at);
    for (uint64_t i = 0; i < 300; ++i) first.insert(i, value::of(i));
    for (uint64_t i = 0; i < 150; ++i) first.remove(i);
  }
  tree second(s, at);
  for (uint64_t i = 0; i < 2000; ++i) second.insert(i, value::of(i));
  EXPECT_EQ(second.check(), "");
  second.clear();
}

}  // namespace
}  // namespace scute::test
