// SPDX-License-Identifier: BSD-3-Clause
// The hash map for several threads: one lock in DRAM per shard, 64 in all, each held by an
// operation from before it reads until its transaction has committed.
//
//   LOCKED-1  get and scan hold the shard's lock shared; everything that writes holds it alone. So
//       a get sees whole values and only committed ones.
//   LOCKED-2  Two operations on different shards run in parallel, insertions and removals too: the
//       objects that one of them writes (entries, segments, pages, the shard) are in one shard, and
//       the root, which all read, is not written any more once the constructor has made the shards.
//   LOCKED-3  No thread holds two locks, so no threads deadlock. scan takes one shard after the
//       other: it is atomic within each, not over all.
//   LOCKED-4  A transaction is one operation. Several in one transaction would have to keep their
//       locks until its end: for that take hashmap and locks of one's own.
//
// Threads that are in no operation may use the pool for anything else. A handle is shared by all
// threads, and there is one per map: another handle would have other locks.
#pragma once

#include <array>
#include <cstdint>
#include <shared_mutex>
#include <string>

#include "workloads/maps/hashmap.hpp"
#include "workloads/stores/section.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class locked_hashmap {
 public:
  using map = hashmap<S, V>;
  using key = typename map::key;
  using value = V;
  using root = typename map::root;

  /// The store stays the caller's, and outlives this. No other thread may use the map meanwhile.
  locked_hashmap(S& s, typename S::template ptr<root> at) : store_(s), map_(at) {
    store_.transact([&](typename S::tx& t) { map_.make_shards(t); });
  }
  locked_hashmap(const locked_hashmap&) = delete;
  locked_hashmap& operator=(const locked_hashmap&) = delete;

  /// True: new; false: the value was replaced.
  bool insert(key k, const V& v) {
    return writing(k, [&](typename S::tx& t) { return map_.insert(t, k, v); });
  }
  /// True: it was there.
  bool remove(key k) {
    return writing(k, [&](typename S::tx& t) { return map_.remove(t, k); });
  }
  /// Copies the value out. False: there is none, and `out` is as before.
  bool get(key k, V& out) const {
    return read(k, [&](const V& v) { out = v; });
  }
  /// The same without a copy: f(const V&), with the lock held.
  template <class F>
  bool read(key k, F&& f) const {
    return in_reading(store_, lock_of(k), [&](const auto& r) {
      const V* v = map_.get(r, k);
      if (v == nullptr) return false;
      f(*v);
      return true;
    });
  }
  /// Replaces the value of a key that is there. False: it is not.
  bool update(key k, const V& v) {
    return read_modify_write(k, [&](V& old) { old = v; });
  }
  /// f(V&) changes the value as it likes. False: there is none, and f was not called. An exception
  /// that leaves f leaves the value as it was (in a volatile store: as f left it).
  template <class F>
  bool read_modify_write(key k, F&& f) {
    return writing(k, [&](typename S::tx& t) {
      V* v = map_.edit(t, k);
      if (v == nullptr) return false;
      f(*v);
      return true;
    });
  }
  /// Up to n entries from the bucket of `from` on, in the order of shards and buckets, which wraps
  /// around once: f(key, const V&). Returns how many there were: fewer than n only if no shard but
  /// the first has any left. The key itself, if it is there, is among the first, those of its
  /// chain.
  template <class F>
  uint64_t scan(key from, uint64_t n, F&& f) const {
    uint64_t seen = 0;
    for (uint64_t i = 0; i < map::shards && seen < n; ++i) {
      const uint64_t number = (map::shard_of(from) + i) % map::shards;
      in_reading(store_, locks_[number].mutex, [&](const auto& r) {
        map_.for_each_in(r, number, i == 0 ? map_.bucket_of(r, from) : 0, [&](key k, const V& v) {
          f(k, v);
          return ++seen < n;
        });
      });
    }
    return seen;
  }

  /// Without locks: no other thread may write.
  template <class F>
  void for_each(F&& f) const {
    map_.for_each(store_.view(), f);
  }
  std::string check() const { return map_.check(store_.view()); }

 private:
  // Two lines each: the adjacent-line prefetcher moves pairs.
  struct alignas(128) lock {
    mutable std::shared_mutex mutex;
  };

  std::shared_mutex& lock_of(key k) const { return locks_[map::shard_of(k)].mutex; }

  template <class F>
  bool writing(key k, F&& body) {
    return in_section(store_, lock_of(k), body);
  }

  S& store_;
  map map_;
  std::array<lock, map::shards> locks_;
};

}  // namespace scute::workloads
