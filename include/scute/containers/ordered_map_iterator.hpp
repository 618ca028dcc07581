// SPDX-License-Identifier: BSD-3-Clause
//
// ordered_map_iterator.hpp: positions in an ordered_map.
#ifndef SCUTE_CONTAINERS_ORDERED_MAP_ITERATOR_HPP
#define SCUTE_CONTAINERS_ORDERED_MAP_ITERATOR_HPP

#include <scute/containers/chain_watch.hpp>
#include <scute/containers/ordered_map_node.hpp>
#include <scute/reader.hpp>

#include <cstddef>
#include <iterator>

namespace scute {

/// The value type of iterators over maps: `for (const auto& [key, value] : map.scan(pool))`.
template <class K, class V>
struct map_entry {
  const K& key;
  const V& value;
};

template <class K, class V, class Compare>
class ordered_map;

/// A bidirectional iterator in key order. It remembers its reader, and is valid until the map next
/// changes. Steps are amortised O(1).
template <class K, class V, class Compare>
class ordered_map_iterator {
  using leaf = detail::tree_leaf<K, V>;
  using map = ordered_map<K, V, Compare>;

 public:
  using iterator_concept = std::bidirectional_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = map_entry<K, V>;
  using reference = map_entry<K, V>;
  using difference_type = ptrdiff_t;
  struct pointer {
    map_entry<K, V> entry;
    const map_entry<K, V>* operator->() const noexcept { return &entry; }
  };

  ordered_map_iterator() = default;

  const K& key() const { return node().entry(checked()).key; }
  const V& value() const { return node().entry(checked()).value; }
  reference operator*() const {
    const auto& slot = node().entry(checked());
    return {slot.key, slot.value};
  }
  pointer operator->() const { return {**this}; }

  ordered_map_iterator& operator++() {
    if (++position_ >= node().count()) {
      leaf_ = node().next;
      position_ = 0;
      watch_.step(leaf_.oid());
    }
    return *this;
  }
  ordered_map_iterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }

  ordered_map_iterator& operator--() {
    if (position_ > 0) {
      --position_;
      return *this;
    }
    watch_ = {};  // it may go forth again over leaves that it has seen
    leaf_ = leaf_ ? node().prev : map_->last_leaf(reader_);
    const size_t count = node().count();
    if (count == 0) {
      detail::throw_corrupt("scute::ordered_map: an empty leaf");
    }
    position_ = count - 1;
    return *this;
  }
  ordered_map_iterator operator--(int) {
    auto before = *this;
    --*this;
    return before;
  }

  /// Of the same map; the end is a null leaf.
  friend bool operator==(const ordered_map_iterator& a, const ordered_map_iterator& b) noexcept {
    return a.leaf_ == b.leaf_ && a.position_ == b.position_;
  }

 private:
  friend map;
  ordered_map_iterator(const reader& r, const map* of, ptr<leaf> where, size_t position)
      : reader_(r), map_(of), leaf_(where), position_(position) {}

  const leaf& node() const {
    if (!leaf_) [[unlikely]] {
      detail::throw_at_end();
    }
    return reader_.get(leaf_);
  }
  size_t checked() const {
    if (position_ >= node().count()) [[unlikely]] {
      detail::throw_corrupt("scute::ordered_map: iterator used after the map changed");
    }
    return position_;
  }

  reader reader_;
  const map* map_ = nullptr;
  ptr<leaf> leaf_;
  size_t position_ = 0;
  detail::chain_watch watch_;  // over the leaves, going forward
};

/// The part of a map between two positions.
template <class Iterator>
class map_range {
 public:
  map_range(Iterator first, Iterator last) : first_(first), last_(last) {}
  Iterator begin() const { return first_; }
  Iterator end() const { return last_; }
  bool empty() const { return first_ == last_; }

 private:
  Iterator first_;
  Iterator last_;
};

}  // namespace scute

#endif
