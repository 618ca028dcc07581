// SPDX-License-Identifier: BSD-3-Clause
//
// hash_map_bucket.hpp: a hash_map's buckets as they are stored, and positions in them.
#ifndef SCUTE_CONTAINERS_HASH_MAP_BUCKET_HPP
#define SCUTE_CONTAINERS_HASH_MAP_BUCKET_HPP

#include <scute/containers/chain_watch.hpp>
#include <scute/containers/key.hpp>
#include <scute/containers/ordered_map_iterator.hpp>
#include <scute/containers/segments.hpp>
#include <scute/reader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace scute {

namespace detail {

/// One page of a bucket: entries in no order, next to a byte of each one's hash, so that most
/// lookups compare one key. A full bucket continues in another page.
template <class K, class V>
struct hash_page {
  static constexpr uint32_t scute_type = type_hash("scute.hash_map.page");
  using slot = tree_slot<K, V>;

  /// As many as fit 512 bytes, or if that is fewer than 6, up to 6 in 4 KiB.
  static constexpr size_t capacity_of(size_t overhead, size_t item) noexcept {
    const size_t usual = (512 - overhead) / item;
    const size_t most = (4096 - overhead) / item;
    return std::min<size_t>(std::max(usual, std::min<size_t>(most, 6)), 32);
  }
  static constexpr size_t capacity = capacity_of(8 + 1 + alignof(slot), sizeof(slot) + 1);
  static_assert(capacity >= 4,
                "scute: a hash_map entry takes at most about 1 KB; store a ptr to larger ones");

  struct index {
    uint8_t count;
    uint8_t tags[capacity];
  };

  ptr<hash_page> next;
  index used;
  slot slots[capacity];

  size_t count() const {
    if (used.count > capacity) [[unlikely]] {
      throw_corrupt("scute::hash_map: a page says that it holds more than fits");
    }
    return used.count;
  }
};

}  // namespace detail

/// A forward iterator over a hash_map, in no particular order. It remembers its reader, and is
/// valid until the map next changes.
template <class K, class V>
class hash_map_iterator {
  using page = detail::hash_page<K, V>;
  using directory = detail::segments<ptr<page>>;

 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = map_entry<K, V>;
  using reference = map_entry<K, V>;
  using difference_type = ptrdiff_t;
  struct pointer {
    map_entry<K, V> entry;
    const map_entry<K, V>* operator->() const noexcept { return &entry; }
  };

  hash_map_iterator() = default;

  const K& key() const { return slot().key; }
  const V& value() const { return slot().value; }
  reference operator*() const {
    const auto& s = slot();
    return {s.key, s.value};
  }
  pointer operator->() const { return {**this}; }

  hash_map_iterator& operator++() {
    ++position_;
    skip_to_entry();
    return *this;
  }
  hash_map_iterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }

  /// Of the same map; the end is a null page.
  friend bool operator==(const hash_map_iterator& a, const hash_map_iterator& b) noexcept {
    return a.page_ == b.page_ && a.position_ == b.position_;
  }

 private:
  template <class, class, class, class>
  friend class hash_map;

  hash_map_iterator(const reader& r, const directory* buckets, uint64_t n, uint64_t bucket,
                    ptr<page> where, size_t position)
      : reader_(r), buckets_(buckets), n_(n), bucket_(bucket), page_(where), position_(position) {}

  const typename page::slot& slot() const {
    if (!page_) [[unlikely]] {
      detail::throw_at_end();
    }
    const page& p = reader_.get(page_);
    if (position_ >= p.count()) [[unlikely]] {
      detail::throw_corrupt("scute::hash_map: iterator used after the map changed");
    }
    return p.slots[position_];
  }

  /// Moves on to the next entry if there is none at the position.
  void skip_to_entry() {
    while (page_ && position_ >= reader_.get(page_).count()) {
      page_ = reader_.get(page_).next;
      position_ = 0;
      watch_.step(page_.oid());
      while (!page_ && ++bucket_ < n_) {
        page_ = buckets_->get(reader_, bucket_);
        watch_ = {};
      }
    }
  }

  reader reader_;
  const directory* buckets_ = nullptr;
  uint64_t n_ = 0;
  uint64_t bucket_ = 0;
  ptr<page> page_;
  size_t position_ = 0;
  detail::chain_watch watch_;  // over the pages of the bucket
};

}  // namespace scute

#endif
