// SPDX-License-Identifier: BSD-3-Clause
//
// ordered_map_tree.hpp: how ordered_map's B+tree grows and shrinks. Internal.
//
// Invariants, which check_tree() tests:
//  1. All leaves are at level 0, the root at level height - 1; an empty map has height 0.
//  2. Every node but the root holds at least a third of its capacity; no leaf is empty.
//  3. Keys ascend strictly within a leaf; For an inner node, keys[i] is greater than every key
//     under children[0..i]. It is not greater than any under children[i + 1..].
//  4. next and prev link the leaves in key order.
//  5. size is the number of entries.
//  6. Inner nodes own copies of their keys, never those of an entry: an entry may be erased while
//     its key still separates.
#ifndef SCUTE_CONTAINERS_ORDERED_MAP_TREE_HPP
#define SCUTE_CONTAINERS_ORDERED_MAP_TREE_HPP

#include <scute/containers/key.hpp>
#include <scute/containers/ordered_map_node.hpp>
#include <scute/tx.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace scute::detail {

template <class K, class V, class Compare>
class tree {
 protected:
  using leaf = tree_leaf<K, V>;
  using inner = tree_inner<K>;
  using slot = tree_slot<K, V>;

  /// The inner nodes passed on the way down, by level, and which child was taken.
  struct path {
    struct step {
      scute_oid node;
      size_t child;
    };
    std::array<step, tree_height_max> steps;
    step& operator[](size_t level) { return steps[level]; }
  };

  struct place {
    ptr<leaf> where;  // null: the map is empty
    size_t position;  // in key order; may be the leaf's count
  };

  tree() noexcept = default;
  tree(tree&&) noexcept = default;
  tree& operator=(tree&&) noexcept = default;

  uint32_t height() const {
    if (height_ > tree_height_max) [[unlikely]] {
      throw_corrupt("scute::ordered_map: the tree is too high to be true");
    }
    return height_;
  }

  /// The leaf where q belongs and the first position there whose key is not less.
  template <class Q>
  place descend(const reader& r, const Q& q, path& p) const {
    if (height() == 0) {
      return {nullptr, 0};
    }
    scute_oid node = root_;
    for (size_t level = height_ - 1; level > 0; --level) {
      const inner& n = r.get(ptr<inner>(node));
      const size_t child = n.template child_of<Compare>(r, q);
      p[level] = {node, child};
      node = n.children[child];
    }
    const ptr<leaf> where(node);
    return {where, r.get(where).template lower_bound<Compare>(r, q)};
  }

  /// The first or last leaf of a map that is not empty.
  ptr<leaf> edge_leaf(const reader& r, bool last) const {
    scute_oid node = root_;
    for (size_t level = height() - 1; level > 0; --level) {
      const inner& n = r.get(ptr<inner>(node));
      node = n.children[last ? n.count() : 0];
    }
    return ptr<leaf>(node);
  }

  // ---- growing -----------------------------------------------------------------------------

  /// Makes room for an entry at a position and returns its slot, whose bytes are garbage.
  slot& open_slot(tx& t, path& p, ptr<leaf> where, size_t position) {
    if (!where) {
      where = new_leaf(t).first;
      root_ = where.oid();
      height_ = 1;
    } else if (t.get(where).count() == leaf::capacity) {
      split_leaf(t, p, where, position);
    }
    auto& used = t.edit(where, &leaf::used);
    const uint8_t s = used.order[used.count];
    std::memmove(&used.order[position + 1], &used.order[position], used.count - position);
    used.order[position] = s;
    ++used.count;
    return t.edit(where, &leaf::slots, s);
  }

  std::pair<ptr<leaf>, leaf*> new_leaf(tx& t) {
    const tx::allocation made = t.allocate(sizeof(leaf), leaf::scute_type);
    leaf* node = reinterpret_cast<leaf*>(made.bytes);
    for (size_t i = 0; i < leaf::capacity; ++i) {
      node->used.order[i] = static_cast<uint8_t>(i);
    }
    return {ptr<leaf>(made.oid), node};
  }

  /// Splits a full leaf and moves the place of the coming entry to the half that takes it. Where
  /// keys come in ascending order the left half stays nearly full: nothing will follow into it.
  void split_leaf(tx& t, path& p, ptr<leaf>& where, size_t& position) {
    const leaf& left = t.get(where);
    const bool ascending = position == leaf::capacity && !left.next;
    const size_t keep = ascending ? leaf::capacity - leaf::fill_min : leaf::capacity / 2;

    const auto [right_ptr, right] = new_leaf(t);
    for (size_t i = keep; i < leaf::capacity; ++i) {
      relocate(&right->slots[i - keep], &left.entry(i), 1);
    }
    right->used.count = static_cast<uint32_t>(leaf::capacity - keep);
    right->prev = where;
    right->next = left.next;
    if (right->next) {
      t.edit(right->next, &leaf::prev) = right_ptr;
    }
    t.edit(where, &leaf::next) = right_ptr;
    t.edit(where, &leaf::used).count = static_cast<uint32_t>(keep);

    K separator = same_bytes(right->slots[0].key);
    ownership<K>::duplicate(t, separator);
    insert_child(t, p, 1, separator, right_ptr.oid());
    if (position > keep) {
      where = right_ptr;
      position -= keep;
    }
  }

  /// Adds `key` and the node to its right at a level, next to the child that the path took there.
  void insert_child(tx& t, path& p, size_t level, const K& key, scute_oid right) {
    if (level == height_) {
      if (height_ == tree_height_max) {
        throw_corrupt("scute::ordered_map: the tree is too high to be true");
      }
      const tx::allocation made = t.allocate(sizeof(inner), inner::scute_type);
      inner* top = reinterpret_cast<inner*>(made.bytes);
      top->children[0] = root_;
      top->children[1] = right;
      relocate(&top->keys[0], &key, 1);
      top->used = 1;
      root_ = made.oid;
      ++height_;
      return;
    }
    inner& n = t.open(ptr<inner>(p[level].node));
    const size_t at = p[level].child;
    if (n.count() < inner::capacity) {
      insert_key(n, at, key, right);
      return;
    }
    const size_t keep =
        at == inner::capacity ? inner::capacity - inner::fill_min - 1 : inner::capacity / 2;
    const tx::allocation made = t.allocate(sizeof(inner), inner::scute_type);
    inner& half = *reinterpret_cast<inner*>(made.bytes);
    half.used = inner::capacity - keep - 1;
    relocate(half.keys, &n.keys[keep + 1], half.used);
    relocate(half.children, &n.children[keep + 1], half.used + 1);
    n.used = keep;
    const K up = same_bytes(n.keys[keep]);
    if (at <= keep) {
      insert_key(n, at, key, right);
    } else {
      insert_key(half, at - keep - 1, key, right);
    }
    insert_child(t, p, level + 1, up, made.oid);
  }

  static void insert_key(inner& n, size_t at, const K& key, scute_oid right) {
    const size_t count = n.count();
    relocate(&n.keys[at + 1], &n.keys[at], count - at);
    relocate(&n.children[at + 2], &n.children[at + 1], count - at);
    relocate(&n.keys[at], &key, 1);
    n.children[at + 1] = right;
    ++n.used;
  }

  // ---- shrinking ---------------------------------------------------------------------------

  /// Removes the entry at a position from its leaf; the objects that it owned have been released.
  void close_slot(tx& t, path& p, ptr<leaf> where, size_t position) {
    auto& used = t.edit(where, &leaf::used);
    const uint8_t s = used.order[position];
    std::memmove(&used.order[position], &used.order[position + 1], used.count - position - 1);
    --used.count;
    used.order[used.count] = s;
    if (height_ == 1) {
      if (used.count == 0) {
        t.free_bytes(root_);
        root_ = SCUTE_OID_NULL;
        height_ = 0;
      }
    } else if (used.count < leaf::fill_min) {
      refill_leaf(t, p);
    }
  }

  /// Which two neighbours below a parent to even out: the short one and a sibling.
  struct pair_of {
    scute_oid left, right;
    size_t key;  // of the parent, between them
  };
  static pair_of neighbours(const inner& parent, size_t child) {
    const size_t count = parent.count();
    if (count == 0 || child > count) [[unlikely]] {
      throw_corrupt("scute::ordered_map: an inner node without neighbours");
    }
    const size_t key = child < count ? child : child - 1;
    return {parent.children[key], parent.children[key + 1], key};
  }

  void refill_leaf(tx& t, path& p) {
    inner& parent = t.open(ptr<inner>(p[1].node));
    const pair_of pair = neighbours(parent, p[1].child);
    leaf& left = t.open(ptr<leaf>(pair.left));
    leaf& right = t.open(ptr<leaf>(pair.right));
    const size_t total = left.count() + right.count();

    if (total <= leaf::capacity) {
      move_first(left, right, right.count());
      left.next = right.next;
      if (right.next) {
        t.edit(right.next, &leaf::prev) = ptr<leaf>(pair.left);
      }
      t.free_bytes(pair.right);
      ownership<K>::release(t, parent.keys[pair.key]);
      remove_child(t, p, 1, parent, pair.key);
      return;
    }
    if (left.count() < total / 2) {
      move_first(left, right, total / 2 - left.count());
    } else {
      move_last(left, right, left.count() - total / 2);
    }
    K separator = same_bytes(right.entry(0).key);
    ownership<K>::duplicate(t, separator);
    ownership<K>::release(t, parent.keys[pair.key]);
    relocate(&parent.keys[pair.key], &separator, 1);
  }

  /// Appends the first n entries of `right` to `left`.
  static void move_first(leaf& left, leaf& right, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      relocate(&left.entry(left.used.count), &right.entry(i), 1);
      ++left.used.count;
    }
    std::rotate(right.used.order, right.used.order + n, right.used.order + right.used.count);
    right.used.count -= static_cast<uint32_t>(n);
  }

  /// Puts the last n entries of `left` in front of `right`.
  static void move_last(leaf& left, leaf& right, size_t n) {
    const size_t count = right.used.count;
    for (size_t i = 0; i < n; ++i) {
      relocate(&right.entry(count + i), &left.entry(left.used.count - n + i), 1);
    }
    left.used.count -= static_cast<uint32_t>(n);
    right.used.count += static_cast<uint32_t>(n);
    std::rotate(right.used.order, right.used.order + count, right.used.order + right.used.count);
  }

  /// Drops keys[key] of node n at a level, whose bytes are dead, and the child to its right.
  void remove_child(tx& t, path& p, size_t level, inner& n, size_t key) {
    const size_t count = n.count();
    relocate(&n.keys[key], &n.keys[key + 1], count - key - 1);
    relocate(&n.children[key + 1], &n.children[key + 2], count - key - 1);
    --n.used;
    if (level + 1 == height_) {
      if (n.used == 0) {
        root_ = n.children[0];
        --height_;
        t.free_bytes(p[level].node);
      }
    } else if (n.used < inner::fill_min) {
      refill_inner(t, p, level);
    }
  }

  void refill_inner(tx& t, path& p, size_t level) {
    inner& parent = t.open(ptr<inner>(p[level + 1].node));
    const pair_of pair = neighbours(parent, p[level + 1].child);
    inner& left = t.open(ptr<inner>(pair.left));
    inner& right = t.open(ptr<inner>(pair.right));
    const size_t total = left.count() + right.count();
    K& between = parent.keys[pair.key];

    if (total + 1 <= inner::capacity) {
      relocate(&left.keys[left.used], &between, 1);
      relocate(&left.keys[left.used + 1], right.keys, right.used);
      relocate(&left.children[left.used + 1], right.children, right.used + 1);
      left.used = total + 1;
      t.free_bytes(pair.right);
      remove_child(t, p, level + 1, parent, pair.key);
      return;
    }
    while (left.used < total / 2) {  // the key between goes left, right's first goes up
      relocate(&left.keys[left.used], &between, 1);
      left.children[left.used + 1] = right.children[0];
      ++left.used;
      relocate(&between, &right.keys[0], 1);
      --right.used;
      relocate(right.keys, right.keys + 1, right.used);
      relocate(right.children, right.children + 1, right.used + 1);
    }
    while (left.used > total / 2) {
      relocate(right.keys + 1, right.keys, right.used);
      relocate(right.children + 1, right.children, right.used + 1);
      relocate(&right.keys[0], &between, 1);
      right.children[0] = left.children[left.used];
      ++right.used;
      --left.used;
      relocate(&between, &left.keys[left.used], 1);
    }
  }

  void release_tree(tx& t) const {
    if (height() > 0) {
      release_node(t, root_, height_ - 1);
    }
  }

  static void release_node(tx& t, scute_oid node, uint32_t level) {
    if (level > 0) {
      const inner& n = t.get(ptr<inner>(node));
      for (size_t i = 0; i <= n.count(); ++i) {
        release_node(t, n.children[i], level - 1);
      }
      if constexpr (ownership<K>::owns) {
        for (size_t i = 0; i < n.count(); ++i) {
          ownership<K>::release(t, n.keys[i]);
        }
      }
    } else if constexpr (ownership<K>::owns || ownership<V>::owns) {
      const leaf& n = t.get(ptr<leaf>(node));
      for (size_t i = 0; i < n.count(); ++i) {
        ownership<K>::release(t, n.entry(i).key);
        ownership<V>::release(t, n.entry(i).value);
      }
    }
    t.free_bytes(node);
  }

  // ---- checking ----------------------------------------------------------------------------

  struct audit {
    uint64_t entries = 0;
    ptr<leaf> last = nullptr;
  };

  void check_tree(const reader& r) const {
    audit a;
    if (height() > 0) {
      check_node(r, root_, height_ - 1, nullptr, nullptr, a);
      require(!a.last || !r.get(a.last).next, "the last leaf has a next one");
    }
    require(a.entries == size_, "size is not the number of entries");
  }

  static void require(bool holds, const char* what) {
    if (!holds) {
      throw error(errc::corrupt, std::string("scute::ordered_map: ") + what);
    }
  }

  /// All keys under `node` are in [low, high), where null means no limit.
  void check_node(const reader& r, scute_oid node, uint32_t level, const K* low, const K* high,
                  audit& a) const {
    const bool is_root = node == root_;
    if (level > 0) {
      const inner& n = r.get(ptr<inner>(node));
      const size_t count = n.count();
      require(count >= (is_root ? 1 : inner::fill_min), "an inner node is too empty");
      for (size_t i = 0; i <= count; ++i) {
        const K* from = i == 0 ? low : &n.keys[i - 1];
        const K* to = i == count ? high : &n.keys[i];
        require(!from || !to || less<Compare>(r, *from, *to), "separators do not ascend");
        check_node(r, n.children[i], level - 1, from, to, a);
      }
      return;
    }
    const leaf& n = r.get(ptr<leaf>(node));
    const size_t count = n.count();
    require(count >= (is_root ? 1 : leaf::fill_min), "a leaf is too empty");
    std::array<bool, leaf::capacity> seen{};
    for (size_t i = 0; i < leaf::capacity; ++i) {
      require(!std::exchange(seen[n.at(i)], true), "a leaf's order names a slot twice");
    }
    for (size_t i = 0; i < count; ++i) {
      const K& key = n.entry(i).key;
      require(i == 0 || less<Compare>(r, n.entry(i - 1).key, key), "keys do not ascend in a leaf");
      require(!low || !less<Compare>(r, key, *low), "a key is less than its separator");
      require(!high || less<Compare>(r, key, *high), "a key is not less than its separator");
    }
    require(n.prev == a.last, "a leaf's prev is not the leaf before it");
    require(!a.last || r.get(a.last).next == ptr<leaf>(node), "a leaf's next is not the one after");
    a.last = ptr<leaf>(node);
    a.entries += count;
  }

  scute_oid root_ = SCUTE_OID_NULL;
  uint64_t size_ = 0;
  uint32_t height_ = 0;  // levels
  uint32_t unused_ = 0;
};

}  // namespace scute::detail

#endif
