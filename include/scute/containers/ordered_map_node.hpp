// SPDX-License-Identifier: BSD-3-Clause
//
// ordered_map_node.hpp: the nodes of ordered_map's B+tree as they are stored. Internal.
//
// A leaf keeps its entries in slots that do not move. A byte array `order` lists the used slots in
// key order and, after the first `count`, the free ones. So an insertion writes one slot and the
// small array instead of shifting half of the node, and the commit has less to write. Inner nodes
// change seldom and are plain sorted arrays.
//
// Stored values are not trusted: counts and slot numbers are compared with the node's arrays before
// use.
#ifndef SCUTE_CONTAINERS_ORDERED_MAP_NODE_HPP
#define SCUTE_CONTAINERS_ORDERED_MAP_NODE_HPP

#include <scute/containers/key.hpp>
#include <scute/ptr.hpp>
#include <scute/reader.hpp>
#include <scute/type_number.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace scute::detail {

/// Payload that a node aims at: one of the heap's slot sizes.
inline constexpr size_t tree_node_size = 1024;
inline constexpr size_t tree_node_size_max = 4096;
/// A tree of minimal fan-out 2 with 2^32 leaves; anything higher is damage.
inline constexpr uint32_t tree_height_max = 32;

/// How many items of a size fit a node: into 1 KiB, or if that is fewer than 6, up to 6 into 4 KiB.
constexpr size_t tree_capacity(size_t overhead, size_t item) noexcept {
  const size_t usual = (tree_node_size - overhead) / item;
  const size_t most = (tree_node_size_max - overhead) / item;
  return std::min<size_t>(std::max(usual, std::min<size_t>(most, 6)), 64);
}

template <class K, class V>
struct tree_slot {
  K key;
  V value;
};

template <class K, class V>
struct tree_leaf {
  using slot = tree_slot<K, V>;
  static constexpr uint32_t scute_type = type_hash("scute.ordered_map.leaf");
  static constexpr size_t capacity = tree_capacity(32 + alignof(slot), sizeof(slot) + 1);
  static constexpr size_t fill_min = capacity / 3;
  static_assert(capacity >= 4,
                "scute: an ordered_map entry takes at most about 1 KB; store a ptr to larger ones");

  /// Which slots are used, in key order.
  struct index {
    uint32_t count;
    uint8_t order[capacity];
  };

  ptr<tree_leaf> next;
  ptr<tree_leaf> prev;
  index used;
  slot slots[capacity];

  size_t count() const {
    if (used.count > capacity) [[unlikely]] {
      throw_corrupt("scute::ordered_map: a leaf says that it holds more than fits");
    }
    return used.count;
  }

  /// The slot of the i-th entry in key order.
  size_t at(size_t i) const {
    const size_t s = used.order[i];
    if (s >= capacity) [[unlikely]] {
      throw_corrupt("scute::ordered_map: a leaf's order names a slot that is not there");
    }
    return s;
  }

  const slot& entry(size_t i) const { return slots[at(i)]; }
  slot& entry(size_t i) { return slots[at(i)]; }

  /// First i whose key is not less than q.
  template <class Compare, class Q>
  size_t lower_bound(const reader& r, const Q& q) const {
    size_t low = 0;
    for (size_t n = count(); n > 0;) {
      const size_t half = n / 2;
      if (less<Compare>(r, entry(low + half).key, q)) {
        low += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    return low;
  }
};

template <class K>
struct tree_inner {
  static constexpr uint32_t scute_type = type_hash("scute.ordered_map.inner");
  static constexpr size_t capacity = tree_capacity(16 + alignof(K), sizeof(K) + 8);
  static constexpr size_t fill_min = capacity / 3;

  uint64_t used;  // keys; there is one child more
  scute_oid children[capacity + 1];
  K keys[capacity];  // keys[i]: not greater than any key under children[i + 1]

  size_t count() const {
    if (used > capacity) [[unlikely]] {
      throw_corrupt("scute::ordered_map: an inner node says that it holds more than fits");
    }
    return static_cast<size_t>(used);
  }

  /// Index of the child under which q belongs.
  template <class Compare, class Q>
  size_t child_of(const reader& r, const Q& q) const {
    size_t low = 0;
    for (size_t n = count(); n > 0;) {
      const size_t half = n / 2;
      if (!less<Compare>(r, q, keys[low + half])) {
        low += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    return low;
  }
};

}  // namespace scute::detail

#endif
