// SPDX-License-Identifier: BSD-3-Clause
// A B-tree of order 8: up to 7 items and 8 children in a node, items in inner nodes too.
//
//   BTREE-1  Every node has 3 to 7 items, the topmost 1 to 7.
//   BTREE-2  Keys ascend in a node, and the keys below child i lie between those of items i - 1 and
//            i.
//   BTREE-3  Leaves are of level 0, a child one level below its parent. So all leaves are equally
//            deep.
//   BTREE-4  A node of a level above 0 has one child more than items. The slots after them are
//       stale, and so are all children of leaves.
//
// A transaction changes: to insert, the items after the new one in its leaf; where that is full,
// it makes a right half and passes the middle item up. To remove, the items after the hole in its
// leaf; where too few are left, the hole is filled from a neighbour, or the two become one, which
// leaves a hole in the parent. An item of an inner node is replaced by the one before it, the last
// of a leaf. To replace, one value. Holes are closed together with what else happens to the node,
// so that no field is opened twice for it, and only what moves is opened.
//
// The level, the number of items and all keys share a line, `head`: what a search reads, and what
// nearly every change of a node changes.
//
// After Knuth, The Art of Computer Programming, volume 3, 6.2.4, with order 8 as the btree of
// PMDK's examples, which the papers measure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "workloads/maps/trail.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class btree {
  static_assert(std::is_trivially_copyable_v<V>);
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using key = uint64_t;
  using value = V;

  static constexpr unsigned items_max = 7, items_min = 3;

  struct node_head {
    uint32_t count, level;
    uint64_t keys[items_max];
  };
  struct node {
    node_head head;
    ptr<node> children[items_max + 1];
    V values[items_max];
  };
  struct root {
    ptr<node> top;
  };

  explicit btree(ptr<root> at) noexcept : root_(at) {}

  bool insert(tx& t, key k, const V& v) {
    const ptr<node> top = t.get(root_).top;
    if (!top) {
      const auto [at, fresh] = t.template make<node>();
      fresh.head.count = 1;
      fresh.head.keys[0] = k;
      fresh.values[0] = v;
      t.edit(root_, &root::top) = at;
      return true;
    }
    trail<step, levels> way;
    if (find(t, top, k, way)) {
      t.edit(way.back().at, &node::values, way.back().index) = v;
      return false;
    }
    carried up{k, v, ptr<node>()};
    for (; !way.empty(); way.pop()) {
      const step s = way.back();
      if (t.get(s.at).head.count < items_max) {
        put(t, s, up, t.edit(s.at, &node::head));
        return true;
      }
      split(t, s, up);
    }
    const auto [at, fresh] = t.template make<node>();
    fresh.head.count = 1;
    fresh.head.level = t.get(top).head.level + 1;
    fresh.head.keys[0] = up.key;
    fresh.values[0] = up.value;
    fresh.children[0] = top;
    fresh.children[1] = up.right;
    t.edit(root_, &root::top) = at;
    return true;
  }

  bool remove(tx& t, key k) {
    const ptr<node> top = t.get(root_).top;
    trail<step, levels> way;
    if (!top || !find(t, top, k, way)) return false;
    const step found = way.back();
    const node* n = &t.get(found.at);
    if (n->head.level != 0) {
      do {
        const ptr<node> below = n->children[way.back().index];
        n = &t.get(below);
        way.push({below, n->head.count});
      } while (n->head.level != 0);
      const unsigned last = --way.back().index;
      t.edit(found.at, &node::head).keys[found.index] = n->head.keys[last];
      t.edit(found.at, &node::values, found.index) = n->values[last];
    }
    close(t, way);
    return true;
  }

  template <class R>
  const V* get(const R& reader, key k) const {
    for (ptr<node> at = reader.get(root_).top; at;) {
      const node& n = reader.get(at);
      const unsigned i = place(n, k);
      if (i < n.head.count && n.head.keys[i] == k) return &n.values[i];
      if (n.head.level == 0) break;
      at = n.children[i];
    }
    return nullptr;
  }

  template <class R, class F>
  void for_each(const R& reader, F&& f) const {
    if (const ptr<node> top = reader.get(root_).top) visit(reader, top, f);
  }

  template <class R>
  std::string check(const R& reader) const {
    const ptr<node> top = reader.get(root_).top;
    if (!top) return "";
    const node_head& h = reader.get(top).head;
    if (h.count < 1) return "btree: the topmost node is empty";
    if (h.level >= levels) return "btree: more levels than its keys allow";
    return checked(reader, top, h.level, 1, nullptr, nullptr);
  }

  void clear(tx& t) {
    const ptr<node> top = t.get(root_).top;
    if (!top) return;
    free(t, top);
    t.edit(root_, &root::top) = ptr<node>();
  }

 private:
  // Inner nodes have 4 children at least.
  static constexpr unsigned levels = 33;

  struct step {
    ptr<node> at;
    unsigned index;
  };
  // An item on its way up, and the node that belongs to its right.
  struct carried {
    uint64_t key;
    V value;
    ptr<node> right;
  };

  // The first item whose key is not below k.
  static unsigned place(const node& n, key k) noexcept {
    const unsigned count = std::min<unsigned>(n.head.count, items_max);
    unsigned i = 0;
    while (i < count && n.head.keys[i] < k) ++i;
    return i;
  }
  template <class R>
  static bool find(const R& reader, ptr<node> top, key k, trail<step, levels>& way) {
    for (ptr<node> at = top;;) {
      const node& n = reader.get(at);
      const unsigned i = place(n, k);
      way.push({at, i});
      if (i < n.head.count && n.head.keys[i] == k) return true;
      if (n.head.level == 0) return false;
      at = n.children[i];
    }
  }

  template <class T>
  static void shift_up(T* items, unsigned n) {  // one further; items[n] is there
    std::copy_backward(items, items + n, items + n + 1);
  }
  template <class T>
  static void shift_down(T* items, unsigned n) {  // onto items[0], which is dropped
    std::copy(items + 1, items + n, items);
  }

  // Puts the item before item s.index of a node that has room, and its right node after it.
  static void put(tx& t, step s, const carried& up, node_head& h) {
    const unsigned n = h.count - s.index;
    shift_up(h.keys + s.index, n);
    h.keys[s.index] = up.key;
    ++h.count;
    V* const values = t.edit(s.at, &node::values, s.index, n + 1).data();
    shift_up(values, n);
    *values = up.value;
    if (h.level == 0) return;
    ptr<node>* const children = t.edit(s.at, &node::children, s.index + 1, n + 1).data();
    shift_up(children, n);
    *children = up.right;
  }

  // With the item, the full node would have 8: 4 stay, one goes up, 3 make a new node to its right.
  static void split(tx& t, step s, carried& up) {
    constexpr unsigned stay = 4;
    const auto [right_at, right] = t.template make<node>();
    const node& full = t.get(s.at);
    // Item i of the 8, and the child to its right.
    const auto take = [&](unsigned i, uint64_t& k, V& v, ptr<node>& c) {
      if (i == s.index) {
        k = up.key, v = up.value, c = up.right;
        return;
      }
      const unsigned old = i < s.index ? i : i - 1;
      k = full.head.keys[old], v = full.values[old];
      if (full.head.level != 0) c = full.children[old + 1];
    };
    right.head.level = full.head.level;
    right.head.count = items_max - stay;
    for (unsigned i = 0; i < items_max - stay; ++i)
      take(stay + 1 + i, right.head.keys[i], right.values[i], right.children[i + 1]);
    carried middle{};
    take(stay, middle.key, middle.value, right.children[0]);
    middle.right = right_at;

    node_head& h = t.edit(s.at, &node::head);
    h.count = stay;
    if (s.index < stay) {
      h.count = stay - 1;
      put(t, s, up, h);
    }
    up = middle;
  }

  // Closes the hole that item `index` of the last node of the way leaves.
  void close(tx& t, trail<step, levels>& way) const {
    for (;;) {
      const step s = way.back();
      way.pop();
      const node& n = t.get(s.at);
      if (way.empty() && n.head.count == 1) {
        t.edit(root_, &root::top) = n.head.level != 0 ? n.children[0] : ptr<node>();
        t.destroy(s.at);
        return;
      }
      if (way.empty() || n.head.count > items_min) {
        drop(t, s.at, s.index, s.index + 1);
        return;
      }
      step& above = way.back();
      const node& parent = t.get(above.at);
      const ptr<node> left = above.index > 0 ? parent.children[above.index - 1] : ptr<node>();
      if (left && t.get(left).head.count > items_min) {
        fill_from_left(t, s, above, left);
        return;
      }
      const ptr<node> right =
          above.index < parent.head.count ? parent.children[above.index + 1] : ptr<node>();
      if (right && t.get(right).head.count > items_min) {
        fill_from_right(t, s, above, right);
        return;
      }
      if (left) {
        --above.index;
        merge_into_left(t, s, parent, above.index, left);
      } else {
        merge_with_right(t, s, parent, above.index, right);
      }
    }
  }

  // Without that item and that child.
  static void drop(tx& t, ptr<node> at, unsigned item, unsigned child) {
    const node& n = t.get(at);
    const unsigned last = n.head.count - 1;
    const bool inner = n.head.level != 0;
    const V last_value = n.values[last];
    const ptr<node> last_child = inner ? n.children[last + 1] : ptr<node>();
    node_head& h = t.edit(at, &node::head);
    shift_down(h.keys + item, last + 1 - item);
    h.count = last;
    if (item < last) {
      V* const values = t.edit(at, &node::values, item, last - item).data();
      shift_down(values, last - item);
      values[last - item - 1] = last_value;
    }
    if (inner && child <= last) {
      ptr<node>* const children = t.edit(at, &node::children, child, last + 1 - child).data();
      shift_down(children, last + 1 - child);
      children[last - child] = last_child;
    }
  }

  // The parent's item comes down, a neighbour's outermost one takes its place. The node had 3
  // items.
  static void fill_from_left(tx& t, step s, step above, ptr<node> left) {
    const unsigned between = above.index - 1;
    const node& parent = t.get(above.at);
    const uint64_t down_key = parent.head.keys[between];
    const V down_value = parent.values[between];
    const node& from = t.get(left);
    const unsigned last = from.head.count - 1;
    t.edit(above.at, &node::head).keys[between] = from.head.keys[last];
    t.edit(above.at, &node::values, between) = from.values[last];

    node_head& h = t.edit(s.at, &node::head);
    shift_up(h.keys, s.index);
    h.keys[0] = down_key;
    V* const values = t.edit(s.at, &node::values, 0, s.index + 1).data();
    shift_up(values, s.index);
    values[0] = down_value;
    if (h.level != 0) {
      ptr<node>* const children = t.edit(s.at, &node::children, 0, s.index + 2).data();
      shift_up(children, s.index + 1);
      children[0] = from.children[last + 1];
    }
    t.edit(left, &node::head).count = last;
  }
  static void fill_from_right(tx& t, step s, step above, ptr<node> right) {
    const node& parent = t.get(above.at);
    const uint64_t down_key = parent.head.keys[above.index];
    const V down_value = parent.values[above.index];
    const node& from = t.get(right);
    t.edit(above.at, &node::head).keys[above.index] = from.head.keys[0];
    t.edit(above.at, &node::values, above.index) = from.values[0];

    constexpr unsigned end = items_min - 1;
    node_head& h = t.edit(s.at, &node::head);
    shift_down(h.keys + s.index, items_min - s.index);
    h.keys[end] = down_key;
    V* const values = t.edit(s.at, &node::values, s.index, items_min - s.index).data();
    shift_down(values, items_min - s.index);
    values[end - s.index] = down_value;
    if (h.level != 0) {
      ptr<node>* const children =
          t.edit(s.at, &node::children, s.index + 1, items_min - s.index).data();
      shift_down(children, items_min - s.index);
      children[end - s.index] = from.children[0];
    }
    drop(t, right, 0, 0);
  }

  // The parent's item `between` and both its nodes become one: all three have 3 items, one of them
  // a hole. The hole is in the parent then.
  static void merge_into_left(tx& t, step s, const node& parent, unsigned between, ptr<node> left) {
    const node& n = t.get(s.at);
    node_head& h = t.edit(left, &node::head);
    V* const values = t.edit(left, &node::values, items_min, items_min).data();
    h.keys[items_min] = parent.head.keys[between];
    values[0] = parent.values[between];
    for (unsigned from = 0, to = 1; from < items_min; ++from) {
      if (from == s.index) continue;
      h.keys[items_min + to] = n.head.keys[from];
      values[to++] = n.values[from];
    }
    h.count = 2 * items_min;
    if (h.level != 0) {
      ptr<node>* to = t.edit(left, &node::children, items_min + 1, items_min).data();
      for (unsigned from = 0; from <= items_min; ++from)
        if (from != s.index + 1) *to++ = n.children[from];
    }
    t.destroy(s.at);
  }
  static void merge_with_right(tx& t, step s, const node& parent, unsigned between,
                               ptr<node> right) {
    const node& from = t.get(right);
    const unsigned behind = items_min - s.index;
    node_head& h = t.edit(s.at, &node::head);
    shift_down(h.keys + s.index, behind);
    h.keys[items_min - 1] = parent.head.keys[between];
    std::copy_n(from.head.keys, items_min, h.keys + items_min);
    h.count = 2 * items_min;
    V* const values = t.edit(s.at, &node::values, s.index, behind + items_min).data();
    shift_down(values, behind);
    values[behind - 1] = parent.values[between];
    std::copy_n(from.values, items_min, values + behind);
    if (h.level != 0) {
      // One child more than items: those after the hole, then all of the right node's.
      ptr<node>* const children =
          t.edit(s.at, &node::children, s.index + 1, behind + items_min).data();
      shift_down(children, behind);
      std::copy_n(from.children, items_min + 1, children + behind - 1);
    }
    t.destroy(right);
  }

  template <class R, class F>
  static void visit(const R& reader, ptr<node> at, F& f) {
    const node& n = reader.get(at);
    for (unsigned i = 0; i < n.head.count; ++i) {
      if (n.head.level != 0) visit(reader, n.children[i], f);
      f(n.head.keys[i], n.values[i]);
    }
    if (n.head.level != 0) visit(reader, n.children[n.head.count], f);
  }

  // All keys lie between the two, where they are given. BTREE-3 ends the recursion.
  template <class R>
  static std::string checked(const R& reader, ptr<node> at, uint32_t level, unsigned count_min,
                             const uint64_t* low, const uint64_t* high) {
    const node& n = reader.get(at);
    const node_head& h = n.head;
    const auto wrong = [&](const char* what) {
      return "btree: " + std::string(what) + " at level " + std::to_string(level) + ", first key " +
             std::to_string(h.keys[0]);
    };
    if (h.level != level) return wrong("a node of another level");
    if (h.count < count_min || h.count > items_max) return wrong("too few or too many items");
    for (unsigned i = 0; i < h.count; ++i) {
      const uint64_t* const before = i == 0 ? low : &h.keys[i - 1];
      if (before != nullptr && *before >= h.keys[i]) return wrong("keys do not ascend");
    }
    if (high != nullptr && h.keys[h.count - 1] >= *high)
      return wrong("a key is beyond the parent's");
    if (level == 0) return "";
    for (unsigned i = 0; i <= h.count; ++i) {
      if (!n.children[i]) return wrong("a child is missing");
      std::string text = checked(reader, n.children[i], level - 1, items_min,
                                 i == 0 ? low : &h.keys[i - 1], i == h.count ? high : &h.keys[i]);
      if (!text.empty()) return text;
    }
    return "";
  }

  static void free(tx& t, ptr<node> at) {
    const node& n = t.get(at);
    if (n.head.level != 0)
      for (unsigned i = 0; i <= n.head.count; ++i) free(t, n.children[i]);
    t.destroy(at);
  }

  ptr<root> root_;
};

}  // namespace scute::workloads
