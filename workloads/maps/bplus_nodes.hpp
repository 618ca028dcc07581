// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a B+ tree (bplus_tree.hpp, where the rules are) and what changes them, without
// locks. A leaf has 256 bytes, an inner node 240.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
struct bplus_nodes {
  static_assert(std::is_trivially_copyable_v<V>);
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;
  using key = uint64_t;

  static constexpr unsigned entries_max = 15, entries_min = 7;
  static constexpr unsigned children_max = 12, children_min = 6;

  struct cell {
    V value;
  };
  static constexpr bool in_leaf = sizeof(V) <= 8;
  using stored = std::conditional_t<in_leaf, V, ptr<cell>>;

  struct leaf_head {
    uint64_t count;
    key keys[entries_max];
  };
  struct leaf {
    leaf_head head;
    ptr<leaf> next;
    stored values[entries_max];
  };
  // `count` is that of the children, which have one key less between them.
  struct inner_head {
    uint64_t count;
    key keys[children_max - 1];
  };
  // Children are leaves or inner nodes, by the level: the bits of a ptr to the one or the other.
  struct inner {
    inner_head head;
    uint64_t children[children_max];
    uint32_t locks[children_max];
  };
  static_assert(sizeof(stored) != 8 || (sizeof(leaf) == 256 && sizeof(inner) == 240));

  // A reference to a node, and the number of its lock.
  struct child {
    uint64_t at;
    uint32_t lock;
  };
  struct root {
    child top;        // null in an empty tree
    uint64_t levels;  // 1: the topmost node is a leaf
  };
  // A new right neighbour on its way into the parent, and the first key that is its.
  struct carried {
    uint64_t key;
    child right;
  };

  template <class Node>
  static ptr<Node> as(const child& c) {
    return std::bit_cast<ptr<Node>>(c.at);
  }
  static ptr<leaf> as_leaf(const child& c) { return as<leaf>(c); }
  static ptr<inner> as_inner(const child& c) { return as<inner>(c); }
  template <class Node>
  static constexpr unsigned least = std::is_same_v<Node, leaf> ? entries_min : children_min;

  // The first entry whose key is not below k.
  static unsigned place(const leaf& l, key k) noexcept {
    const auto count = std::min<uint64_t>(l.head.count, entries_max);
    unsigned i = 0;
    while (i < count && l.head.keys[i] < k) ++i;
    return i;
  }
  static unsigned index_of(const inner& n, key k) noexcept {
    const auto count = std::min<uint64_t>(n.head.count, children_max);
    unsigned i = 0;
    while (i + 1 < count && n.head.keys[i] <= k) ++i;
    return i;
  }
  static child below(const inner& n, key k) noexcept {
    const unsigned i = index_of(n, k);
    return {n.children[i], n.locks[i]};
  }

  template <class R>
  static const V& load(const R& r, const stored& s) {
    if constexpr (in_leaf)
      return s;
    else
      return r.get(s).value;
  }
  static stored keep(tx& t, const V& v) {
    if constexpr (in_leaf) {
      return v;
    } else {
      const auto [at, fresh] = t.template make<cell>();
      fresh.value = v;
      return at;
    }
  }
  static void replace(tx& t, ptr<leaf> at, unsigned i, const V& v) {
    if constexpr (in_leaf)
      t.edit(at, &leaf::values, i) = v;
    else
      t.edit(t.get(at).values[i], &cell::value) = v;
  }

  static child make_leaf(tx& t, key k, const V& v, uint32_t lock) {
    const auto [at, fresh] = t.template make<leaf>();
    fresh.head.count = 1;
    fresh.head.keys[0] = k;
    fresh.values[0] = keep(t, v);
    return {std::bit_cast<uint64_t>(at), lock};
  }
  static child make_inner(tx& t, const child& left, const carried& up, uint32_t lock) {
    const auto [at, fresh] = t.template make<inner>();
    fresh.head.count = 2;
    fresh.head.keys[0] = up.key;
    const child both[] = {left, up.right};
    for (unsigned i = 0; i < 2; ++i) set(fresh, i, both[i]);
    return {std::bit_cast<uint64_t>(at), lock};
  }

  // Before entry i of a leaf that has room.
  static void put(tx& t, ptr<leaf> at, key k, const V& v) { put(t, at, place(t.get(at), k), k, v); }
  static void put(tx& t, ptr<leaf> at, unsigned i, key k, const V& v) {
    const stored s = keep(t, v);
    leaf_head& h = t.edit(at, &leaf::head);
    const auto n = static_cast<unsigned>(h.count);
    shift_up(h.keys + i, n - i);
    h.keys[i] = k;
    ++h.count;
    stored* const values = t.edit(at, &leaf::values, i, n - i + 1).data();
    shift_up(values, n - i);
    values[0] = s;
  }
  // Inserts the new child after child i of a node that has room.
  static void put(tx& t, ptr<inner> at, unsigned i, const carried& up) {
    inner_head& h = t.edit(at, &inner::head);
    const auto n = static_cast<unsigned>(h.count);
    shift_up(h.keys + i, n - 1 - i);
    h.keys[i] = up.key;
    ++h.count;
    uint64_t* const children = t.edit(at, &inner::children, i + 1, n - i).data();
    shift_up(children, n - 1 - i);
    children[0] = up.right.at;
    uint32_t* const locks = t.edit(at, &inner::locks, i + 1, n - i).data();
    shift_up(locks, n - 1 - i);
    locks[0] = up.right.lock;
  }
  // The entry, and what it leads to.
  static void drop(tx& t, ptr<leaf> at, unsigned i) {
    const auto n = static_cast<unsigned>(t.get(at).head.count);
    if constexpr (!in_leaf) t.destroy(t.get(at).values[i]);
    leaf_head& h = t.edit(at, &leaf::head);
    shift_down(h.keys + i, n - i);
    h.count = n - 1;
    if (i + 1 < n) shift_down(t.edit(at, &leaf::values, i, n - i).data(), n - i);
  }

  // The upper half goes to a new node.
  static carried split(tx& t, ptr<leaf> at, uint32_t lock) {
    constexpr unsigned stay = (entries_max + 1) / 2;
    const auto [right_at, right] = t.template make<leaf>();
    leaf& left = t.open(at);
    std::copy(left.head.keys + stay, left.head.keys + entries_max, right.head.keys);
    std::copy(left.values + stay, left.values + entries_max, right.values);
    right.head.count = entries_max - stay;
    right.next = left.next;
    left.head.count = stay;
    left.next = right_at;
    return {right.head.keys[0], {std::bit_cast<uint64_t>(right_at), lock}};
  }
  // Splits a full node. The new child takes its place after child i.
  static carried split(tx& t, ptr<inner> at, unsigned i, const carried& up, uint32_t lock) {
    constexpr unsigned stay = children_max / 2;
    const auto [right_at, right] = t.template make<inner>();
    inner& left = t.open(at);
    std::copy(left.head.keys + stay, left.head.keys + children_max - 1, right.head.keys);
    std::copy(left.children + stay, left.children + children_max, right.children);
    std::copy(left.locks + stay, left.locks + children_max, right.locks);
    right.head.count = children_max - stay;
    left.head.count = stay;
    const key between = left.head.keys[stay - 1];
    if (i < stay)
      insert(left, i, up);
    else
      insert(right, i - stay, up);
    return {between, {std::bit_cast<uint64_t>(right_at), lock}};
  }

  // The neighbours are children `between` and the next one; one entry goes over.
  template <class Node>
  static void move_one(tx& t, ptr<inner> above, unsigned between, bool to_the_right) {
    Node& left = t.open(as<Node>(at(t.get(above), between)));
    Node& right = t.open(as<Node>(at(t.get(above), between + 1)));
    key& border = t.edit(above, &inner::head).keys[between];
    if (to_the_right)
      move_right(left, right, border);
    else
      move_left(left, right, border);
  }
  // The right one of the two is taken into the left one.
  template <class Node>
  static void merge(tx& t, ptr<inner> above, unsigned between) {
    inner& parent = t.open(above);
    const ptr<Node> right_at = as<Node>(at(parent, between + 1));
    Node& left = t.open(as<Node>(at(parent, between)));
    append(left, t.get(right_at), parent.head.keys[between]);
    const auto n = static_cast<unsigned>(parent.head.count);
    shift_down(parent.head.keys + between, n - 1 - between);
    shift_down(parent.children + between + 1, n - 1 - between);
    shift_down(parent.locks + between + 1, n - 1 - between);
    parent.head.count = n - 1;
    t.destroy(right_at);
  }

  template <class R, class F>
  static void visit(const R& r, const root& top, F& f) {
    if (top.top.at == 0) return;
    child c = top.top;
    for (uint64_t level = top.levels; level > 1; --level) c = at(r.get(as_inner(c)), 0);
    for (ptr<leaf> p = as_leaf(c); p; p = r.get(p).next) {
      const leaf& l = r.get(p);
      for (unsigned i = 0; i < l.head.count; ++i) f(l.head.keys[i], load(r, l.values[i]));
    }
  }
  template <class R>
  static void collect_locks(const R& r, const child& c, uint64_t levels,
                            std::vector<uint32_t>& numbers) {
    numbers.push_back(c.lock);
    if (levels == 1) return;
    const inner& n = r.get(as_inner(c));
    for (unsigned i = 0; i < n.head.count; ++i) collect_locks(r, at(n, i), levels - 1, numbers);
  }
  static void free(tx& t, const child& c, uint64_t levels) {
    if (levels == 1) {
      const leaf& l = t.get(as_leaf(c));
      if constexpr (!in_leaf)
        for (unsigned i = 0; i < l.head.count; ++i) t.destroy(l.values[i]);
      t.destroy(as_leaf(c));
      return;
    }
    const inner& n = t.get(as_inner(c));
    for (unsigned i = 0; i < n.head.count; ++i) free(t, at(n, i), levels - 1);
    t.destroy(as_inner(c));
  }

  template <class R>
  static std::string check(const R& r, const root& top) {
    if (top.top.at == 0) return "";
    if (top.levels == 0 || top.levels > 40) return "bplus: impossible number of levels";
    progress p;
    std::string wrong =
        checked(r, top.top, top.levels, top.levels == 1 ? 1 : 2, nullptr, nullptr, p);
    if (wrong.empty() && p.next) wrong = "bplus: the last leaf leads on";
    std::ranges::sort(p.locks);
    if (wrong.empty() && std::ranges::adjacent_find(p.locks) != p.locks.end())
      wrong = "bplus: two nodes have one lock";
    return wrong;
  }

 private:
  template <class T>
  static void shift_up(T* items, unsigned n) {  // one further; items[n] is there
    std::copy_backward(items, items + n, items + n + 1);
  }
  template <class T>
  static void shift_down(T* items, unsigned n) {  // n of them, of which the first is dropped
    if (n != 0) std::copy(items + 1, items + n, items);
  }
  static child at(const inner& n, unsigned i) { return {n.children[i], n.locks[i]}; }
  static void set(inner& n, unsigned i, const child& c) {
    n.children[i] = c.at;
    n.locks[i] = c.lock;
  }
  static void insert(inner& n, unsigned i, const carried& up) {
    const auto count = static_cast<unsigned>(n.head.count);
    shift_up(n.head.keys + i, count - 1 - i);
    n.head.keys[i] = up.key;
    shift_up(n.children + i + 1, count - 1 - i);
    shift_up(n.locks + i + 1, count - 1 - i);
    set(n, i + 1, up.right);
    ++n.head.count;
  }

  static void move_right(leaf& left, leaf& right, key& border) {
    const auto n = static_cast<unsigned>(right.head.count);
    shift_up(right.head.keys, n);
    shift_up(right.values, n);
    right.head.keys[0] = left.head.keys[left.head.count - 1];
    right.values[0] = left.values[left.head.count - 1];
    ++right.head.count;
    --left.head.count;
    border = right.head.keys[0];
  }
  static void move_left(leaf& left, leaf& right, key& border) {
    const auto n = static_cast<unsigned>(right.head.count);
    left.head.keys[left.head.count] = right.head.keys[0];
    left.values[left.head.count] = right.values[0];
    ++left.head.count;
    shift_down(right.head.keys, n);
    shift_down(right.values, n);
    --right.head.count;
    border = right.head.keys[0];
  }
  static void move_right(inner& left, inner& right, key& border) {
    const auto n = static_cast<unsigned>(right.head.count);
    const auto last = static_cast<unsigned>(left.head.count) - 1;
    shift_up(right.head.keys, n - 1);
    shift_up(right.children, n);
    shift_up(right.locks, n);
    right.head.keys[0] = border;
    set(right, 0, at(left, last));
    border = left.head.keys[last - 1];
    ++right.head.count;
    --left.head.count;
  }
  static void move_left(inner& left, inner& right, key& border) {
    const auto n = static_cast<unsigned>(right.head.count);
    const auto end = static_cast<unsigned>(left.head.count);
    left.head.keys[end - 1] = border;
    set(left, end, at(right, 0));
    border = right.head.keys[0];
    shift_down(right.head.keys, n - 1);
    shift_down(right.children, n);
    shift_down(right.locks, n);
    ++left.head.count;
    --right.head.count;
  }
  static void append(leaf& left, const leaf& right, key /*border*/) {
    std::copy_n(right.head.keys, right.head.count, left.head.keys + left.head.count);
    std::copy_n(right.values, right.head.count, left.values + left.head.count);
    left.head.count += right.head.count;
    left.next = right.next;
  }
  static void append(inner& left, const inner& right, key border) {
    left.head.keys[left.head.count - 1] = border;
    std::copy_n(right.head.keys, right.head.count - 1, left.head.keys + left.head.count);
    std::copy_n(right.children, right.head.count, left.children + left.head.count);
    std::copy_n(right.locks, right.head.count, left.locks + left.head.count);
    left.head.count += right.head.count;
  }

  struct progress {
    bool any = false;
    ptr<leaf> next{};  // of the leaf before
    std::vector<uint32_t> locks;
  };
  // All keys lie in [low, high), where they are given.
  template <class R>
  static std::string checked(const R& r, const child& c, uint64_t level, unsigned count_min,
                             const key* low, const key* high, progress& p) {
    const auto wrong = [&](const char* what) {
      return "bplus: " + std::string(what) + " at level " + std::to_string(level);
    };
    p.locks.push_back(c.lock);
    if (level == 1) {
      const leaf& l = r.get(as_leaf(c));
      if (l.head.count < count_min || l.head.count > entries_max)
        return wrong("too few or too many entries");
      for (unsigned i = 0; i < l.head.count; ++i) {
        const key k = l.head.keys[i];
        if (i != 0 && l.head.keys[i - 1] >= k) return wrong("keys do not ascend");
        if ((low != nullptr && k < *low) || (high != nullptr && k >= *high))
          return wrong("a key is beyond the parent's");
      }
      if (p.any && p.next != as_leaf(c))
        return wrong("a leaf that the one before does not lead to");
      p.any = true;
      p.next = l.next;
      return "";
    }
    const inner& n = r.get(as_inner(c));
    if (n.head.count < count_min || n.head.count > children_max)
      return wrong("too few or too many children");
    for (unsigned i = 2; i < n.head.count; ++i)
      if (n.head.keys[i - 2] >= n.head.keys[i - 1]) return wrong("keys do not ascend");
    for (unsigned i = 0; i < n.head.count; ++i) {
      if (n.children[i] == 0) return wrong("a child is missing");
      std::string text = checked(r, at(n, i), level - 1, level == 2 ? entries_min : children_min,
                                 i == 0 ? low : &n.head.keys[i - 1],
                                 i + 1 == n.head.count ? high : &n.head.keys[i], p);
      if (!text.empty()) return text;
    }
    return "";
  }
};

}  // namespace scute::workloads
