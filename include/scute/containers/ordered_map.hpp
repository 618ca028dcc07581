// SPDX-License-Identifier: BSD-3-Clause
//
// ordered_map.hpp: a sorted map: a B+tree with linked leaves.
//
//   struct root { scute::ordered_map<scute::string, scute::string> index; };
//
//   pool.transact([&](scute::tx& tx) {
//     tx.edit(root, &root_type::index).insert_or_assign(tx, "key", "value");
//   });
//   const auto& index = pool.get(root).index;
//   if (auto it = index.find(pool, "key"); it != index.end()) use(it.value().view(pool));
//   for (const auto& [key, value] : index.scan(pool, "a", "b")) ...   // "a" <= key < "b"
//
// The map is a 24-byte handle that lives inside an object; all zero bytes is an empty map. It owns
// its nodes and what keys and values own (see ownership.hpp), and cannot be copied.
//
// Reading members are const and take a reader: the pool on a handle read through the pool, or a tx
// on a handle that was read or opened through that tx. Mixing the two shows nonsense. Changing
// members take the tx and are called on a handle that is open for writing in it. Each invalidates
// all iterators and all references to entries of this map. If one throws (errc::nospc, ...), let
// the transaction abort. Threads: any number may read while none changes the map.
//
// Compare orders the keys: a default-constructible function object, called as compare(a, b), where
// a scute::string is seen as its std::string_view, or, if it can be, as compare(reader, a, b). It
// is part of the data format: the order must be the same whenever the pool is opened.
//
// Costs: lookups O(log n), about log(n)/log(30) nodes of 1 KiB. An insertion changes one entry and
// some 100 bytes more. A 1 KiB node is split every 20 to 40 insertions. Only clear() touches more
// than two nodes per level.
#ifndef SCUTE_CONTAINERS_ORDERED_MAP_HPP
#define SCUTE_CONTAINERS_ORDERED_MAP_HPP

#include <scute/containers/key.hpp>
#include <scute/containers/misuse.hpp>
#include <scute/containers/ordered_map_iterator.hpp>
#include <scute/containers/ordered_map_node.hpp>
#include <scute/containers/ordered_map_tree.hpp>
#include <scute/tx.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace scute {

template <class K, class V, class Compare = std::less<>>
class ordered_map : private detail::tree<K, V, Compare> {
  using tree = detail::tree<K, V, Compare>;
  using typename tree::leaf;
  using typename tree::path;

 public:
  using key_type = K;
  using mapped_type = V;
  using iterator = ordered_map_iterator<K, V, Compare>;
  using range = map_range<iterator>;

  ordered_map() noexcept = default;
  ordered_map(ordered_map&&) noexcept = default;  // moves the bytes; the source is dead
  ordered_map& operator=(ordered_map&&) noexcept = default;

  // ---- reading -----------------------------------------------------------------------------

  /// Number of entries. O(1).
  uint64_t size() const noexcept { return this->size_; }
  bool empty() const noexcept { return this->size_ == 0; }

  /// The entry with this key, or end().
  template <class Q>
  iterator find(const reader& r, const Q& key) const {
    const auto& q = detail::asked<K>(r, key);
    const iterator it = bound(r, q);
    return it != end() && !detail::less<Compare>(r, q, it.key()) ? it : end();
  }

  /// The value of this key, or null.
  template <class Q>
  const V* get(const reader& r, const Q& key) const {
    const iterator it = find(r, key);
    return it != end() ? &it.value() : nullptr;
  }

  template <class Q>
  bool contains(const reader& r, const Q& key) const {
    return find(r, key) != end();
  }

  /// The first entry whose key is not less than `key`, or end().
  template <class Q>
  iterator lower_bound(const reader& r, const Q& key) const {
    const auto& q = detail::asked<K>(r, key);
    return bound(r, q);
  }

  /// The first entry whose key is greater than `key`, or end().
  template <class Q>
  iterator upper_bound(const reader& r, const Q& key) const {
    const auto& q = detail::asked<K>(r, key);
    iterator it = bound(r, q);
    if (it != end() && !detail::less<Compare>(r, q, it.key())) {
      ++it;
    }
    return it;
  }

  iterator begin(const reader& r) const {
    return this->height_ == 0 ? end(r) : iterator(r, this, this->edge_leaf(r, false), 0);
  }
  /// The position after the last entry, from which -- reaches the last.
  iterator end(const reader& r) const { return iterator(r, this, nullptr, 0); }
  /// The same for comparisons only.
  iterator end() const { return iterator(); }

  /// `for (x : map)` does not compile: the entries are in the pool.
  template <class... None>
  iterator begin() const {
    detail::require_scan<None...>();
    return {};
  }

  /// All entries in key order.
  range scan(const reader& r) const { return {begin(r), end(r)}; }
  /// The entries with from <= key.
  template <class Q>
  range scan(const reader& r, const Q& from) const {
    return {lower_bound(r, from), end(r)};
  }
  /// The entries with from <= key < to. `to` must not be less than `from`.
  template <class Q, class P>
  range scan(const reader& r, const Q& from, const P& to) const {
    return {lower_bound(r, from), lower_bound(r, to)};
  }

  /// Walks over the whole tree and throws errc::corrupt naming the first invariant that is broken:
  /// order of keys, fill of nodes, equal depth, links between leaves, size. O(n).
  void check(const reader& r) const { this->check_tree(r); }

  // ---- changing ----------------------------------------------------------------------------

  /// Adds an entry if there is none with this key. Returns whether it did. `key` and `value` are
  /// whatever K and V can be made from; texts for scute::string. An rvalue that owns objects is
  /// moved in if it is added and otherwise remains the caller's.
  template <class Q, class... Args>
  bool insert(tx& t, Q&& key, Args&&... value) {
    return try_emplace(t, std::forward<Q>(key), std::forward<Args>(value)...).second;
  }

  /// Adds an entry or replaces the value of the one that is there. Returns whether it added.
  template <class Q, class A>
  bool insert_or_assign(tx& t, Q&& key, A&& value) {
    const auto [present, inserted] = try_emplace(t, std::forward<Q>(key), std::forward<A>(value));
    if (!inserted) {
      detail::replace(t, *present, std::forward<A>(value));
    }
    return inserted;
  }

  /// Adds an entry with V(args...) if there is none with this key. Returns the value, open for
  /// writing until the map next changes or the transaction ends, and whether it was added.
  template <class Q, class... Args>
  std::pair<V*, bool> try_emplace(tx& t, Q&& key, Args&&... args) {
    const auto& q = detail::asked<K>(t, key);
    path p;
    auto [where, position] = this->descend(t, q, p);
    if (where) {
      const leaf& node = t.get(where);
      if (position < node.count() && !detail::less<Compare>(t, q, node.entry(position).key)) {
        return {&t.edit(where, &leaf::slots, node.at(position)).value, false};
      }
    }
    auto& entry = this->open_slot(t, p, where, position);
    detail::construct(t, &entry.key, std::forward<Q>(key));
    detail::construct(t, &entry.value, std::forward<Args>(args)...);
    ++this->size_;
    return {&entry.value, true};
  }

  /// The value of this key, open for writing until the map next changes or the transaction ends;
  /// null if there is none.
  template <class Q>
  V* edit(tx& t, const Q& key) {
    const iterator it = find(t, key);
    if (it == end()) {
      return nullptr;
    }
    return &t.edit(it.leaf_, &leaf::slots, t.get(it.leaf_).at(it.position_)).value;
  }

  /// Removes the entry with this key and frees what it owns. Returns whether there was one.
  template <class Q>
  bool erase(tx& t, const Q& key) {
    const auto& q = detail::asked<K>(t, key);
    path p;
    const auto [where, position] = this->descend(t, q, p);
    if (!where) {
      return false;
    }
    const leaf& node = t.get(where);
    if (position >= node.count() || detail::less<Compare>(t, q, node.entry(position).key)) {
      return false;
    }
    ownership<K>::release(t, node.entry(position).key);
    ownership<V>::release(t, node.entry(position).value);
    this->close_slot(t, p, where, position);
    --this->size_;
    return true;
  }

  /// Removes everything. O(n), in this one transaction: to empty a huge map step by step, erase
  /// its first entries instead.
  void clear(tx& t) {
    release(t);
    *this = ordered_map();
  }

  /// Frees everything that the map owns; the handle must not be used again. See ownership.hpp.
  void release(tx& t) const { this->release_tree(t); }

 private:
  friend iterator;

  template <class Q>
  iterator bound(const reader& r, const Q& q) const {
    path p;
    const auto [where, position] = this->descend(r, q, p);
    if (!where) {
      return end(r);
    }
    const leaf& node = r.get(where);
    // Past the end of a leaf means the beginning of the next.
    return position < node.count() ? iterator(r, this, where, position)
                                   : iterator(r, this, node.next, 0);
  }

  ptr<leaf> last_leaf(const reader& r) const {
    if (this->height_ == 0) {
      detail::throw_error(errc::range,
                          "scute::ordered_map: stepped back from the end of an empty map");
    }
    return this->edge_leaf(r, true);
  }
};

}  // namespace scute

#endif
