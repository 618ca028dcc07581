// SPDX-License-Identifier: BSD-3-Clause
// A B+ tree for several threads, with a reader-writer lock for each node.
//
//   BPLUS-1  A leaf has 7 to 15 entries, an inner node 6 to 12 children; the topmost node has one
//       entry or two children at least.
//   BPLUS-2  Keys ascend in a node; those below child i are smaller than the inner node's key i,
//       those below the next child are not.
//   BPLUS-3  All leaves are equally deep, and each leads to the next.
//   BPLUS-4  Every node has a lock of its own in DRAM. Its number stands next to the reference to
//       the node, in the parent or the root.
//   BPLUS-5  Locks are taken from the top down, a child's with its parent's held, and a neighbour's
//       with the parent's held alone. So no threads deadlock, and no thread waits for a node that
//       is taken out.
//
// A look-up holds the locks of a node and of its child shared, one step after the other (Bayer,
// Schkolnick: Concurrency of Operations on B-Trees, Acta Informatica 9, 1977). A change goes down
// the same way and holds its leaf alone. If the leaf would have to be split or merged, it comes
// down again with locks held alone. It releases the locks above a node that can take the change in.
// It keeps the other locks until its transaction has committed: the way down is the lock of the
// section (stores/section.hpp).
//
// A value of more than 8 bytes is an object of its own. So a change of the value does not rewrite
// the leaf, and a change of the leaf does not rewrite the values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "workloads/locks/lock_table.hpp"
#include "workloads/locks/node_lock.hpp"
#include "workloads/maps/bplus_nodes.hpp"
#include "workloads/stores/section.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class bplus_tree {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;
  using nodes = bplus_nodes<S, V>;
  using leaf = typename nodes::leaf;
  using inner = typename nodes::inner;
  using child = typename nodes::child;

 public:
  using key = uint64_t;
  using value = V;
  using root = typename nodes::root;

  /// The store stays the caller's, and outlives this. No other thread may use the tree meanwhile.
  bplus_tree(S& s, ptr<root> at) : store_(s), root_(at) {
    std::vector<uint32_t> numbers;
    const auto& r = store_.view();
    if (const root& top = r.get(root_); top.top.at != 0)
      nodes::collect_locks(r, top.top, top.levels, numbers);
    locks_.adopt(std::move(numbers));
  }
  bplus_tree(const bplus_tree&) = delete;
  bplus_tree& operator=(const bplus_tree&) = delete;

  /// True: new; false: the value was replaced.
  bool insert(key k, const V& v) {
    way w(*this, k, intent::insert);
    return in_section(store_, w, [&](tx& t) { return put(t, w, k, v); });
  }
  /// True: it was there.
  bool remove(key k) {
    way w(*this, k, intent::remove);
    return in_section(store_, w, [&](tx& t) { return take(t, w, k); });
  }
  /// f(const value&), with the leaf's lock held. False: there is none.
  template <class F>
  bool read(key k, F&& f) const {
    const auto& r = store_.view();
    node_lock* held = &root_lock_;
    held->lock_shared();
    const root top = r.get(root_);
    child at = top.top;
    bool found = false;
    if (at.at != 0) {
      held = step_down(held, at.lock);
      for (unsigned level = top.levels; level > 1; --level) {
        at = nodes::below(r.get(nodes::as_inner(at)), k);
        held = step_down(held, at.lock);
      }
      const leaf& l = r.get(nodes::as_leaf(at));
      const unsigned i = nodes::place(l, k);
      if (i < l.head.count && l.head.keys[i] == k) {
        f(nodes::load(r, l.values[i]));
        found = true;
      }
    }
    held->unlock_shared();
    return found;
  }

  /// Without locks: no other thread may write.
  template <class F>
  void for_each(F&& f) const {
    const auto& r = store_.view();
    nodes::visit(r, r.get(root_), f);
  }
  std::string check() const {
    const auto& r = store_.view();
    return nodes::check(r, r.get(root_));
  }
  void clear() {
    store_.transact([&](tx& t) {
      const root top = t.get(root_);
      if (top.top.at == 0) return;
      nodes::free(t, top.top, top.levels);
      t.open(root_) = root{};
    });
    locks_.adopt({});
  }

 private:
  enum class intent : uint8_t { insert, remove };

  // A node that is held alone, and the index of the next child on the way down.
  struct step {
    child at;
    unsigned index;
  };

  // The way down, and the locks on it: from the last node that a change may reach to the leaf.
  class way {
   public:
    way(const bplus_tree& tree, key k, intent what) : tree_(tree), key_(k), what_(what) {}
    way(const way&) = delete;
    way& operator=(const way&) = delete;

    void lock() {
      if (lock_leaf()) return;
      lock_branch();
    }
    void unlock() {
      release();
      for (const uint32_t number : gone_) tree_.locks_.give_back(number);
      gone_.clear();
    }
    // A neighbour of a node whose parent is held alone.
    void lock_neighbour(const child& c) {
      tree_.locks_.of(c.lock).lock();
      held_.push_back(&tree_.locks_.of(c.lock));
    }
    // Its lock's number is given back when no thread holds the lock any more.
    void lose(const child& c) { gone_.push_back(c.lock); }

    std::vector<step> steps;  // the leaf is the last
    bool from_root = false;   // steps begin at the topmost node, and the root is held alone
    unsigned levels = 0;      // of the tree

   private:
    // Shared all the way, and the leaf alone. False, with nothing held: the leaf does not take the
    // change in.
    bool lock_leaf() {
      const auto& r = tree_.store_.view();
      node_lock* held = &tree_.root_lock_;
      held->lock_shared();
      const root top = r.get(tree_.root_);
      child at = top.top;
      levels = top.levels;
      if (at.at == 0) {
        held->unlock_shared();
        return what_ == intent::remove;  // there is nothing to hold
      }
      for (unsigned level = levels; level > 1; --level) {
        held = tree_.step_down(held, at.lock);
        at = nodes::below(r.get(nodes::as_inner(at)), key_);
      }
      node_lock& mine = tree_.locks_.of(at.lock);
      mine.lock();
      held->unlock_shared();
      if (!takes_in(r.get(nodes::as_leaf(at)), levels == 1)) {
        mine.unlock();
        return false;
      }
      held_.push_back(&mine);
      steps.push_back({at, 0});
      return true;
    }
    void lock_branch() {
      const auto& r = tree_.store_.view();
      tree_.root_lock_.lock();
      held_.push_back(&tree_.root_lock_);
      from_root = true;
      const root top = r.get(tree_.root_);
      child at = top.top;
      levels = top.levels;
      if (at.at == 0) return;
      for (unsigned level = levels;; --level) {
        node_lock& mine = tree_.locks_.of(at.lock);
        mine.lock();
        const bool topmost = level == levels;
        if (level == 1) {
          if (takes_in(r.get(nodes::as_leaf(at)), topmost)) let_go();
          held_.push_back(&mine);
          steps.push_back({at, 0});
          return;
        }
        const inner& n = r.get(nodes::as_inner(at));
        if (takes_in(n, topmost)) let_go();
        held_.push_back(&mine);
        const unsigned i = nodes::index_of(n, key_);
        steps.push_back({at, i});
        at = {n.children[i], n.locks[i]};
      }
    }
    // Releases the locks above the node that comes now.
    void let_go() {
      release();
      steps.clear();
      from_root = false;
    }
    void release() {
      for (auto m = held_.rbegin(); m != held_.rend(); ++m) (*m)->unlock();
      held_.clear();
    }

    bool takes_in(const leaf& l, bool topmost) const {
      const unsigned i = nodes::place(l, key_);
      const bool there = i < l.head.count && l.head.keys[i] == key_;
      if (what_ == intent::insert) return there || l.head.count < nodes::entries_max;
      return !there || l.head.count > (topmost ? 1 : nodes::entries_min);
    }
    bool takes_in(const inner& n, bool topmost) const {
      if (what_ == intent::insert) return n.head.count < nodes::children_max;
      return n.head.count > (topmost ? 2 : nodes::children_min);
    }

    const bplus_tree& tree_;
    key key_;
    intent what_;
    std::vector<node_lock*> held_;
    std::vector<uint32_t> gone_;
  };

  node_lock* step_down(node_lock* from, uint32_t to) const {
    node_lock* const next = &locks_.of(to);
    next->lock_shared();
    from->unlock_shared();
    return next;
  }

  bool put(tx& t, way& w, key k, const V& v) {
    if (w.steps.empty()) {
      const child fresh = nodes::make_leaf(t, k, v, locks_.take());
      t.open(root_) = root{fresh, 1};
      return true;
    }
    const ptr<leaf> at = nodes::as_leaf(w.steps.back().at);
    const leaf& l = t.get(at);
    const unsigned i = nodes::place(l, k);
    if (i < l.head.count && l.head.keys[i] == k) {
      nodes::replace(t, at, i, v);
      return false;
    }
    if (l.head.count < nodes::entries_max) {
      nodes::put(t, at, i, k, v);
      return true;
    }
    typename nodes::carried up = nodes::split(t, at, locks_.take());
    nodes::put(t, k < up.key ? at : nodes::as_leaf(up.right), k, v);
    for (size_t n = w.steps.size() - 1; n-- > 0;) {
      const ptr<inner> above = nodes::as_inner(w.steps[n].at);
      if (t.get(above).head.count < nodes::children_max) {
        nodes::put(t, above, w.steps[n].index, up);
        return true;
      }
      up = nodes::split(t, above, w.steps[n].index, up, locks_.take());
    }
    const child top = nodes::make_inner(t, w.steps.front().at, up, locks_.take());
    t.open(root_) = root{top, w.levels + 1};
    return true;
  }

  bool take(tx& t, way& w, key k) {
    if (w.steps.empty()) return false;
    const ptr<leaf> at = nodes::as_leaf(w.steps.back().at);
    const leaf& l = t.get(at);
    const unsigned i = nodes::place(l, k);
    if (i >= l.head.count || l.head.keys[i] != k) return false;
    nodes::drop(t, at, i);
    size_t n = w.steps.size() - 1;
    if (n == 0) {
      if (t.get(at).head.count == 0) {
        nodes::free(t, w.steps[0].at, 1);
        w.lose(w.steps[0].at);
        t.open(root_) = root{};
      }
      return true;
    }
    bool one_less = balance<leaf>(t, w, w.steps[n - 1]);
    for (--n; one_less && n > 0; --n) one_less = balance<inner>(t, w, w.steps[n - 1]);
    const child top = w.steps.front().at;
    if (one_less && w.from_root && t.get(nodes::as_inner(top)).head.count == 1) {
      const inner& only = t.get(nodes::as_inner(top));
      t.open(root_) = root{{only.children[0], only.locks[0]}, w.levels - 1};
      t.destroy(nodes::as_inner(top));
      w.lose(top);
    }
    return true;
  }

  // A child may have too few: it gets one of a neighbour's, or the two become one. True: the parent
  // has one child less.
  template <class Node>
  bool balance(tx& t, way& w, const step& parent) {
    const ptr<inner> above = nodes::as_inner(parent.at);
    const inner& p = t.get(above);
    const auto has_enough = [&](const child& c) {
      return t.get(nodes::template as<Node>(c)).head.count > nodes::template least<Node>;
    };
    const auto number = [&](unsigned i) { return child{p.children[i], p.locks[i]}; };
    const child mine = number(parent.index);
    if (t.get(nodes::template as<Node>(mine)).head.count >= nodes::template least<Node>)
      return false;
    const bool to_the_left = parent.index > 0;
    const child other = number(to_the_left ? parent.index - 1 : 1);
    w.lock_neighbour(other);
    const unsigned between = to_the_left ? parent.index - 1 : 0;
    if (has_enough(other)) {
      nodes::template move_one<Node>(t, above, between, to_the_left);
      return false;
    }
    const child right = to_the_left ? mine : other;
    nodes::template merge<Node>(t, above, between);
    w.lose(right);
    return true;
  }

  S& store_;
  ptr<root> root_;
  mutable node_lock root_lock_;
  mutable lock_table locks_;
};

}  // namespace scute::workloads
