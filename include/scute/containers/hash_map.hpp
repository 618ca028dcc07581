// SPDX-License-Identifier: BSD-3-Clause
//
// hash_map.hpp: an unordered map that grows one bucket at a time.
//
//   struct root { scute::hash_map<uint64_t, account> accounts; };
//
//   pool.transact([&](scute::tx& tx) {
//     auto& accounts = tx.edit(root, &root_type::accounts);
//     accounts.insert(tx, 42, account{});
//     accounts.edit(tx, 42)->balance += 5;
//   });
//   if (const account* a = pool.get(root).accounts.get(pool, 42)) ...
//
// The map is a 40-byte handle that lives inside an object; all zero bytes is an empty map. It owns
// its buckets and what keys and values own (see ownership.hpp), and cannot be copied.
//
// Linear hashing (Litwin 1980): with n buckets, a key belongs to bucket h mod 2^(k+1), or h mod 2^k
// if that bucket is not there yet (2^k <= n < 2^(k+1)). When the buckets are three quarters full,
// one more is added and takes its share from one other. So a transaction never copies a table. An
// insertion writes one entry and some 30 bytes more. At times it also splits one bucket, about 1
// KiB. The table of buckets is a segments array. It does not shrink until clear().
//
// Readers, changing members and threads: as for ordered_map.hpp. Costs: lookups, insertions and
// erasures O(1) on average. Hash is described in hash.hpp; keys are compared with ==.
#ifndef SCUTE_CONTAINERS_HASH_MAP_HPP
#define SCUTE_CONTAINERS_HASH_MAP_HPP

#include <scute/containers/chain_watch.hpp>
#include <scute/containers/hash.hpp>
#include <scute/containers/hash_map_bucket.hpp>
#include <scute/containers/key.hpp>
#include <scute/containers/misuse.hpp>
#include <scute/containers/segments.hpp>
#include <scute/tx.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

namespace scute {

template <class K, class V, class Hash = hash<K>, class Equal = std::equal_to<>>
class hash_map {
  using page = detail::hash_page<K, V>;

 public:
  using key_type = K;
  using mapped_type = V;
  using iterator = hash_map_iterator<K, V>;
  using range = map_range<iterator>;

  hash_map() noexcept = default;
  hash_map(hash_map&&) noexcept = default;  // moves the bytes; the source is dead
  hash_map& operator=(hash_map&&) noexcept = default;

  // ---- reading -----------------------------------------------------------------------------

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  uint64_t bucket_count() const noexcept { return buckets_; }

  /// The entry with this key, or end().
  template <class Q>
  iterator find(const reader& r, const Q& key) const {
    const auto& q = detail::asked<K>(r, key);
    const place at = locate(r, q, hashed(q));
    return at.found ? iterator(r, &directory_, buckets_, at.bucket, at.where, at.position) : end();
  }

  /// The value of this key, or null.
  template <class Q>
  const V* get(const reader& r, const Q& key) const {
    const auto& q = detail::asked<K>(r, key);
    const place at = locate(r, q, hashed(q));
    return at.found ? &r.get(at.where).slots[at.position].value : nullptr;
  }

  template <class Q>
  bool contains(const reader& r, const Q& key) const {
    return get(r, key) != nullptr;
  }

  iterator begin(const reader& r) const {
    for (uint64_t bucket = 0; bucket < buckets_; ++bucket) {
      if (const ptr<page> first = directory_.get(r, bucket)) {
        iterator it(r, &directory_, buckets_, bucket, first, 0);
        it.skip_to_entry();
        return it;
      }
    }
    return end();
  }
  iterator end() const { return iterator(); }
  iterator end(const reader&) const { return iterator(); }

  /// `for (x : map)` does not compile: the entries are in the pool.
  template <class... None>
  iterator begin() const {
    detail::require_scan<None...>();
    return {};
  }

  /// All entries, in no particular order.
  range scan(const reader& r) const { return {begin(r), end()}; }

  /// Walks over the whole map. Throws errc::corrupt if an entry is in the wrong bucket or under the
  /// wrong tag, or if size is wrong. O(n).
  void check(const reader& r) const;

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
    if (buckets_ == 0) {
      seed_ = choose_seed(t);
      add_bucket(t);
    }
    const uint64_t h = hashed(q);
    const place at = locate(t, q, h);
    if (at.found) {
      return {&t.edit(at.where, &page::slots, at.position).value, false};
    }
    if (size_ >= buckets_ * (page::capacity * 3 / 4)) {
      split_next(t);
    }
    auto& entry = append(t, bucket_of(h), h);
    detail::construct(t, &entry.key, std::forward<Q>(key));
    detail::construct(t, &entry.value, std::forward<Args>(args)...);
    ++size_;
    return {&entry.value, true};
  }

  /// The value of this key, open for writing until the map next changes or the transaction ends;
  /// null if there is none.
  template <class Q>
  V* edit(tx& t, const Q& key) {
    const auto& q = detail::asked<K>(t, key);
    const place at = locate(t, q, hashed(q));
    return at.found ? &t.edit(at.where, &page::slots, at.position).value : nullptr;
  }

  /// Removes the entry with this key and frees what it owns. Returns whether there was one.
  template <class Q>
  bool erase(tx& t, const Q& key) {
    const auto& q = detail::asked<K>(t, key);
    const place at = locate(t, q, hashed(q));
    if (!at.found) {
      return false;
    }
    const auto& gone = t.get(at.where).slots[at.position];
    ownership<K>::release(t, gone.key);
    ownership<V>::release(t, gone.value);
    take_out(t, at);
    --size_;
    return true;
  }

  /// Removes everything. O(n), in this one transaction.
  void clear(tx& t) {
    release(t);
    *this = hash_map();
  }

  /// Frees everything that the map owns; the handle must not be used again. See ownership.hpp.
  void release(tx& t) const {
    for (uint64_t bucket = 0; bucket < buckets_; ++bucket) {
      for (ptr<page> p = directory_.get(t, bucket); p;) {
        const page& node = t.get(p);
        for (size_t i = 0; i < node.count(); ++i) {
          ownership<K>::release(t, node.slots[i].key);
          ownership<V>::release(t, node.slots[i].value);
        }
        const ptr<page> next = node.next;
        t.free_bytes(p.oid());
        p = next;
      }
    }
    directory_.release(t);
  }

 private:
  struct place {
    uint64_t bucket = 0;
    ptr<page> before;  // the page in front of `where` in its bucket; null: `where` is the first
    ptr<page> where;
    size_t position = 0;
    bool found = false;
  };

  static constexpr uint8_t tag_of(uint64_t h) noexcept { return static_cast<uint8_t>(h >> 56); }

  template <class Q>
  uint64_t hashed(const Q& q) const {
    return Hash{}(q, seed_);
  }

  uint64_t bucket_of(uint64_t h) const noexcept {
    const uint64_t base = std::bit_floor(buckets_);
    const uint64_t bucket = h & (2 * base - 1);
    return bucket < buckets_ ? bucket : h & (base - 1);
  }

  /// Not to be guessed without the pool, and costs no randomness.
  static uint64_t choose_seed(const tx& t) {
    scute_info facts{};
    facts.struct_size = sizeof(facts);
    detail::check(scute_pool_info(t.handle(), &facts));
    return detail::hash_bytes(facts.uuid, sizeof facts.uuid, facts.epoch);
  }

  template <class Q>
  place locate(const reader& r, const Q& q, uint64_t h) const {
    place at;
    if (buckets_ == 0) {
      return at;
    }
    at.bucket = bucket_of(h);
    detail::chain_watch watch;
    for (at.where = directory_.get(r, at.bucket); at.where;) {
      const page& node = r.get(at.where);
      const size_t count = node.count();
      for (at.position = 0; at.position < count; ++at.position) {
        if (node.used.tags[at.position] == tag_of(h) && same(r, node.slots[at.position].key, q)) {
          at.found = true;
          return at;
        }
      }
      at.before = at.where;
      at.where = node.next;
      watch.step(at.where.oid());
    }
    return at;
  }

  template <class Q>
  static bool same(const reader& r, const K& key, const Q& q) {
    if constexpr (std::is_same_v<K, string> && std::is_same_v<Equal, std::equal_to<>>) {
      return key.equals(r, q);
    } else {
      return Equal{}(detail::viewed(r, key), q);
    }
  }

  /// A slot for an entry in a bucket, whose bytes are garbage.
  typename page::slot& append(tx& t, uint64_t bucket, uint64_t h) {
    const ptr<page> first = directory_.get(t, bucket);
    ptr<page> where = first;
    detail::chain_watch watch;
    while (where && t.get(where).count() == page::capacity) {
      where = t.get(where).next;
      watch.step(where.oid());
    }
    if (!where) {
      const tx::allocation made = t.allocate(sizeof(page), page::scute_type);
      where = ptr<page>(made.oid);
      reinterpret_cast<page*>(made.bytes)->next = first;
      directory_.edit(t, bucket) = where;
    }
    auto& used = t.edit(where, &page::used);
    const size_t i = used.count;
    used.tags[i] = tag_of(h);
    ++used.count;
    return t.edit(where, &page::slots, i);
  }

  /// Takes an entry out of its page, and the page out of its bucket if it was the last there.
  void take_out(tx& t, const place& at) {
    auto& used = t.edit(at.where, &page::used);
    const size_t last = used.count - 1U;
    if (last == 0) {
      const ptr<page> next = t.read(at.where, &page::next);
      if (at.before) {
        t.edit(at.before, &page::next) = next;
      } else {
        directory_.edit(t, at.bucket) = next;
      }
      t.free_bytes(at.where.oid());
      return;
    }
    if (at.position != last) {
      auto& hole = t.edit(at.where, &page::slots, at.position);
      detail::relocate(&hole, &t.get(at.where).slots[last], 1);
      used.tags[at.position] = used.tags[last];
    }
    used.count = static_cast<uint8_t>(last);
  }

  void add_bucket(tx& t) {
    *directory_.grow(t, buckets_, buckets_) = nullptr;
    ++buckets_;
  }

  /// Adds a bucket and moves into it what belongs there now from the one that it halves.
  void split_next(tx& t) {
    const uint64_t fresh = buckets_;
    place at;
    at.bucket = fresh - std::bit_floor(fresh);
    add_bucket(t);
    detail::chain_watch watch;
    for (at.where = directory_.get(t, at.bucket); at.where;) {
      const ptr<page> next = t.read(at.where, &page::next);
      watch.step(next.oid());
      bool freed = false;
      for (size_t i = t.get(at.where).count(); i-- > 0;) {
        const auto& entry = t.get(at.where).slots[i];
        const uint64_t h = hashed(detail::viewed(t, entry.key));
        if (bucket_of(h) == fresh) {
          detail::relocate(&append(t, fresh, h), &entry, 1);
          at.position = i;
          freed = t.get(at.where).count() == 1;
          take_out(t, at);
        }
      }
      at.before = freed ? at.before : at.where;
      at.where = next;
    }
  }

  detail::segments<ptr<page>> directory_;  // by bucket; null: nothing in it
  uint64_t buckets_ = 0;
  uint64_t size_ = 0;
  uint64_t seed_ = 0;
};

template <class K, class V, class Hash, class Equal>
void hash_map<K, V, Hash, Equal>::check(const reader& r) const {
  uint64_t entries = 0;
  for (uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    detail::chain_watch watch;
    for (ptr<page> p = directory_.get(r, bucket); p; p = r.get(p).next) {
      watch.step(p.oid());
      const page& node = r.get(p);
      if (node.count() == 0) {
        detail::throw_corrupt("scute::hash_map: an empty page");
      }
      for (size_t i = 0; i < node.count(); ++i) {
        const uint64_t h = hashed(detail::viewed(r, node.slots[i].key));
        if (bucket_of(h) != bucket || node.used.tags[i] != tag_of(h)) {
          detail::throw_corrupt(
              "scute::hash_map: an entry in the wrong bucket or under a wrong tag");
        }
      }
      entries += node.count();
    }
  }
  if (entries != size_) {
    detail::throw_corrupt("scute::hash_map: size is not the number of entries");
  }
}

}  // namespace scute

#endif
