// SPDX-License-Identifier: BSD-3-Clause
// A radix tree over the bits of the key, highest first, 9 bits per level, with compressed paths.
//
// A key of 64 bits is eight digits: six of 9 bits, one of 1 bit, one of 9 bits. The short digit is
// the last but one so that neither random keys (which differ in the first digits) nor dense ones
// (the last) pay for it with a narrow node.
//
//   RTREE-1  A node of level 8 is a leaf: prefix is its key, and it has a value and no children. A
//       node of a level below, inner, has no value and branches on the digit of that number.
//   RTREE-2  prefix has the digits before the node's own, the rest is zero; it is what all keys
//       below the node begin with, counted from the top of the key and not from the parent. So a
//       path that is split in the middle changes no node below the split.
//   RTREE-3  An inner node has at least two children, each of a higher level, in the slot of their
//       digit. Removal merges a path that no longer branches.
//   RTREE-4  first names two digits, those of the children that an inner node was made with.
//
// Changes of a transaction. insert: one new leaf and one slot of 8 bytes; where a compressed path
// is split, a new inner node too, and still one slot. remove: one slot; the leaf, and the inner
// node that would be left with one child, are freed. A new value for a key: the value only.
//
// The number of children is not stored: it would be a second edit per insertion and removal in the
// node whose slot changes. Only removal asks whether two others are left. While both of the
// children with which the node was made are there, the answer is known; otherwise the slots are
// searched for two others: early success where there are many, 4 KiB where there are few, which
// removal has to read in part anyway to find the one that stays.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class rtree {
 public:
  using key = uint64_t;
  using value = V;
  static constexpr uint64_t leaf_level = 8, fan_out = 512;

  struct node;
  using link = typename S::template ptr<node>;
  struct node {
    uint64_t prefix;
    uint64_t level;
    uint64_t first[2];
    V value;
    link next[fan_out];
  };
  struct root {
    link top;
  };

  explicit rtree(typename S::template ptr<root> at) : root_(at) {}

  bool insert(typename S::tx& t, key k, const V& v) {
    slot from;
    link at = t.get(root_).top;
    while (at) {
      const node& x = t.get(at);
      if (const key differing = (k ^ x.prefix) & mask(x.level)) {
        const uint64_t level = level_of(differing);
        const uint64_t old = digit(x.prefix, level), fresh = digit(k, level);
        auto [fork_at, fork] = t.template make<node>();
        fork.prefix = k & mask(level);
        fork.level = level;
        fork.first[0] = old;
        fork.first[1] = fresh;
        fork.next[old] = at;
        fork.next[fresh] = make_leaf(t, k, v);
        set(t, from, fork_at);
        return true;
      }
      if (x.level == leaf_level) {
        t.edit(at, &node::value) = v;
        return false;
      }
      from = {at, digit(k, x.level)};
      at = x.next[from.digit];
    }
    set(t, from, make_leaf(t, k, v));
    return true;
  }

  bool remove(typename S::tx& t, key k) {
    slot above, from;  // of the parent, of the leaf
    link at = t.get(root_).top;
    while (at) {
      const node& x = t.get(at);
      if (x.level == leaf_level) {
        if (x.prefix != k) return false;
        break;
      }
      above = from;
      from = {at, digit(k, x.level)};
      at = x.next[from.digit];
    }
    if (!at) return false;
    if (const link sibling = from.parent ? only_other(t.get(from.parent), from.digit) : link{}) {
      set(t, above, sibling);
      t.destroy(from.parent);
    } else {
      set(t, from, link{});
    }
    t.destroy(at);
    return true;
  }

  // Compares the key once, at the leaf: a wrong turn ends at a leaf of another key.
  template <class R>
  const V* get(const R& r, key k) const {
    for (link at = r.get(root_).top; at;) {
      const node& x = r.get(at);
      if (x.level == leaf_level) return x.prefix == k ? &x.value : nullptr;
      at = x.next[digit(k, x.level)];
    }
    return nullptr;
  }

  template <class R, class F>
  void for_each(const R& r, F&& f) const {
    visit(r, r.get(root_).top, [&](link, const node& x) {
      if (x.level == leaf_level) f(x.prefix, x.value);
    });
  }

  template <class R>
  std::string check(const R& r) const {
    std::string wrong;
    visit(r, r.get(root_).top, [&](link, const node& x) {
      if (wrong.empty()) wrong = check_node(r, x);
    });
    return wrong;
  }

  void clear(typename S::tx& t) {
    const link top = t.get(root_).top;
    if (!top) return;
    visit(t, top, [&](link at, const node&) { t.destroy(at); });
    t.edit(root_, &root::top) = link{};
  }

 private:
  // Where a child hangs: in the root if there is no parent.
  struct slot {
    link parent{};
    uint64_t digit = 0;
  };

  static constexpr int shift(uint64_t level) noexcept {
    return level < 6 ? 55 - 9 * static_cast<int>(level) : level == 6 ? 9 : 0;
  }
  static constexpr uint64_t digit(key k, uint64_t level) noexcept {
    return k >> shift(level) & (level == 6 ? 1 : fan_out - 1);
  }
  // The bits of the digits before this one.
  static constexpr key mask(uint64_t level) noexcept {
    return level == 0 ? 0 : ~key{0} << shift(level - 1);
  }
  // The digit in which the highest bit lies.
  static constexpr uint64_t level_of(key differing) noexcept {
    const int zeros = std::countl_zero(differing);
    return zeros < 54 ? static_cast<uint64_t>(zeros) / 9 : zeros == 54 ? 6 : 7;
  }

  static link make_leaf(typename S::tx& t, key k, const V& v) {
    auto [at, leaf] = t.template make<node>();
    leaf.prefix = k;
    leaf.level = leaf_level;
    leaf.value = v;
    return at;
  }

  void set(typename S::tx& t, const slot& s, link to) {
    if (s.parent)
      t.edit(s.parent, &node::next, s.digit) = to;
    else
      t.edit(root_, &root::top) = to;
  }

  // The child other than that of `digit`, if there is exactly one.
  static link only_other(const node& x, uint64_t digit) noexcept {
    const auto [a, b] = x.first;
    if (a != digit && b != digit && x.next[a] && x.next[b]) return link{};
    link other{};
    for (uint64_t i = 0; i < fan_out; ++i) {
      if (!x.next[i] || i == digit) continue;
      if (other) return link{};
      other = x.next[i];
    }
    return other;
  }

  // Children before their parent, and otherwise in the order of the keys.
  template <class R, class F>
  void visit(const R& r, link at, F&& f) const {
    if (!at) return;
    const node& x = r.get(at);
    if (x.level != leaf_level)
      for (const link child : x.next) visit(r, child, f);
    f(at, x);
  }

  template <class R>
  std::string check_node(const R& r, const node& x) const {
    const std::string name =
        "node " + std::to_string(x.prefix) + " of level " + std::to_string(x.level);
    if (x.level > leaf_level) return "RTREE-1: " + name;
    if ((x.prefix & ~mask(x.level)) != 0) return "RTREE-2: " + name + " has bits of its own digit";
    int children = 0;
    for (uint64_t i = 0; i < fan_out; ++i) {
      if (!x.next[i]) continue;
      if (x.level == leaf_level) return "RTREE-1: " + name + " has a child";
      const node& child = r.get(x.next[i]);
      if (child.level <= x.level) return "RTREE-3: " + name + " has a child of no higher level";
      if (((child.prefix ^ x.prefix) & mask(x.level)) != 0 || digit(child.prefix, x.level) != i)
        return "RTREE-2: " + name + " has a child of another prefix in slot " + std::to_string(i);
      ++children;
    }
    if (x.level == leaf_level) return "";
    if (children < 2) return "RTREE-3: " + name + " does not branch";
    const uint64_t digits = x.level == 6 ? 2 : fan_out;
    if (x.first[0] >= digits || x.first[1] >= digits || x.first[0] == x.first[1])
      return "RTREE-4: " + name;
    return "";
  }

  typename S::template ptr<root> root_;
};

}  // namespace scute::workloads
