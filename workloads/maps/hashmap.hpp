// SPDX-License-Identifier: BSD-3-Clause
// A hash map with chains and a table that grows without ever being rewritten: no transaction moves
// more than a part of one chain. After split-ordered lists (Shalev, Shavit; JACM 53(3), 2006),
// with a chain per bucket instead of one list through all, and therefore without sentinels.
//
//   root -> 64 shards -> pages of 128 segments -> segments of 32 buckets -> chains of entries
//
// The lowest 6 bits of a key's hash name its shard, the others are its order here. A shard is a
// table of its own of 2^n buckets, n >= 5; bucket b is for the orders that end in the n bits b.
// When the shard doubles, only n changes. The new buckets are empty then and stay so until a writer
// inserts there: a bucket whose link is null lets its keys live with its parent, which is the
// bucket without the highest set bit of the number.
//
//   HASHMAP-1  A key's chain is the first one that is not empty on the path from its bucket to the
//       parent, the parent's parent and so on; the 32 lowest buckets have no parent. It is nowhere
//       else.
//   HASHMAP-2  A chain ascends by order, orders being compared from the lowest bit up. So the keys
//       that a bucket may take from its parent's chain lie side by side: taking them over changes
//       three links at most, and no entry moves.
//   HASHMAP-3  Pages and segments are made when a bucket of theirs is filled for the first time,
//       and stay. Nothing beyond bucket 2^n is filled.
//   HASHMAP-4  `sampled` counts the keys whose hash begins with five zero bits.
//
// Changes of a transaction. insert: one new entry and one link, of a bucket or of an entry; when
// keys are taken over from a parent, one or two links more, 0.24 per insertion on average while a
// map grows; for one in 32 the shard's counter. remove: one link, one in 32 times the counter; the
// entry is freed. A new value for a key: the value only, no link and no counter.
//
// Why not linear hashing (Litwin, VLDB 1980), which was the plan: it splits one bucket per
// insertion, and each split reads and relinks a chain that has nothing to do with the key, and
// moves the split pointer in the root. Why no count: it would be one more object in every
// transaction, and one that all threads write. The sample is exact in what it counts, as durable as
// the rest, and costs a 32nd; the size it stands for is off by a few per cent (by half in small
// maps), which shifts the time of doubling and no more.
// Why segments of 256 bytes: to edit a link Scute verifies the object around it, up to 4 KiB of it;
// for libpmemobj the size makes no difference.
//
// The table does not shrink. At 2^19 buckets per shard, 33 M in all, it stops growing and the
// chains become longer.
//
// Threads: operations on keys of different shards have no object in common that either of them
// writes, so they may run at the same time, once the shards exist (make_shards). Within a shard, a
// writer excludes everybody else, from before it reads to after it has committed.
// locked_hashmap.hpp does that.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "workloads/maps/key_hash.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class hashmap {
 public:
  using key = uint64_t;
  using value = V;
  static constexpr uint64_t shard_bits = 6, page_bits = 7, segment_bits = 5;
  static constexpr uint64_t shards = 1 << shard_bits, segment_buckets = 1 << segment_bits;
  static constexpr uint64_t page_segments = 1 << page_bits, shard_pages = 1 << page_bits;

  template <class T>
  using ptr = typename S::template ptr<T>;
  struct entry {
    uint64_t key;
    ptr<entry> next;
    V value;
  };
  struct segment {
    ptr<entry> buckets[segment_buckets];
  };
  struct page {
    ptr<segment> segments[page_segments];
  };
  struct shard {
    uint64_t doublings;  // n - 5
    uint64_t sampled;
    ptr<page> pages[shard_pages];
  };
  struct root {
    ptr<shard> shards[hashmap::shards];
  };

  explicit hashmap(ptr<root> at) : root_(at) {}

  static uint64_t shard_of(key k) noexcept { return key_hash(k) & (shards - 1); }

  bool insert(typename S::tx& t, key k, const V& v) {
    const place p = search(t, k);
    if (p.found) {
      t.edit(p.found, &entry::value) = v;
      return false;
    }
    const ptr<shard> in = p.in ? p.in : make_shard(t, shard_of(k));
    auto [at, fresh] = t.template make<entry>();
    fresh.key = k;
    fresh.value = v;
    if (p.chain == p.own || p.passed < passed_max)
      insert_here(t, p, in, at, fresh);
    else
      insert_and_take(t, p, in, at, fresh);
    if (is_sampled(p.hash)) count_up(t, in);
    return true;
  }

  bool remove(typename S::tx& t, key k) {
    const place p = search(t, k);
    if (!p.found) return false;
    set_link(t, p, p.in, p.chain, p.before, t.get(p.found).next);
    t.destroy(p.found);
    if (is_sampled(p.hash)) --t.edit(p.in, &shard::sampled);
    return true;
  }

  /// The value of a key, to be changed; null if there is none.
  V* edit(typename S::tx& t, key k) {
    const place p = search(t, k);
    return p.found ? &t.edit(p.found, &entry::value) : nullptr;
  }

  template <class R>
  const V* get(const R& r, key k) const {
    const uint64_t hash = key_hash(k);
    const ptr<shard> in = r.get(root_).shards[hash & (shards - 1)];
    if (!in) return nullptr;
    const shard& s = r.get(in);
    const uint64_t order = hash >> shard_bits;
    ptr<entry> at = chain_of(r, s, order & (buckets(s) - 1)).first;
    while (at) {
      const entry& e = r.get(at);
      if (e.key == k) return &e.value;
      if (precedes(order, order_of(e.key))) return nullptr;
      at = e.next;
    }
    return nullptr;
  }

  template <class R, class F>
  void for_each(const R& r, F&& f) const {
    for (uint64_t i = 0; i < shards; ++i)
      for_each_in(r, i, 0, [&](key k, const V& v) {
        f(k, v);
        return true;
      });
  }

  /// The entries of one shard from a bucket on: f(key, const V&) -> bool, false ends it, and the
  /// call returns false then. The order is that of the buckets.
  template <class R, class F>
  bool for_each_in(const R& r, uint64_t shard_number, uint64_t bucket, F&& f) const {
    const ptr<shard> in = r.get(root_).shards[shard_number];
    if (!in) return true;
    const shard& s = r.get(in);
    for (uint64_t b = bucket, end = buckets(s); b < end;) {
      const ptr<segment> piece = segment_of(r, s, b);
      const uint64_t after = (b | (segment_buckets - 1)) + 1;
      if (!piece) {
        b = after;
        continue;
      }
      for (const segment& heads = r.get(piece); b < after; ++b) {
        for (ptr<entry> at = heads.buckets[b & (segment_buckets - 1)]; at;) {
          const entry& e = r.get(at);
          if (!f(e.key, e.value)) return false;
          at = e.next;
        }
      }
    }
    return true;
  }

  /// The bucket in whose chain a key is, or would be, for for_each_in().
  template <class R>
  uint64_t bucket_of(const R& r, key k) const {
    const uint64_t hash = key_hash(k);
    const ptr<shard> in = r.get(root_).shards[hash & (shards - 1)];
    if (!in) return 0;
    const shard& s = r.get(in);
    return chain_of(r, s, (hash >> shard_bits) & (buckets(s) - 1)).bucket;
  }

  template <class R>
  std::string check(const R& r) const {
    for (uint64_t i = 0; i < shards; ++i)
      if (const ptr<shard> in = r.get(root_).shards[i]; in)
        if (const std::string wrong = check_shard(r, r.get(in), i); !wrong.empty())
          return "shard " + std::to_string(i) + ", " + wrong;
    return "";
  }

  void clear(typename S::tx& t) {
    bool any = false;
    for (const ptr<shard> in : t.get(root_).shards) {
      if (!in) continue;
      any = true;
      for (const ptr<page> p : t.get(in).pages) {
        if (!p) continue;
        for (const ptr<segment> s : t.get(p).segments)
          if (s) clear_segment(t, s);
        t.destroy(p);
      }
      t.destroy(in);
    }
    if (any) std::ranges::fill(t.edit(root_, &root::shards, 0, shards), ptr<shard>{});
  }

  /// Makes the shards that do not exist yet. Afterwards no operation but clear() writes the root.
  void make_shards(typename S::tx& t) {
    for (uint64_t i = 0; i < shards; ++i)
      if (!t.get(root_).shards[i]) make_shard(t, i);
  }

 private:
  // Keys are taken over from a parent's chain when the search passed this many entries of it. With
  // 0 more links change per insertion, with 2 searches in the chains that remain are slower.
  static constexpr uint64_t passed_max = 1;
  static constexpr uint64_t doublings_max = 2 * page_bits;
  static constexpr int sample_bits = 5;

  struct chain {
    uint64_t bucket;
    ptr<segment> where;  // null if the bucket is empty for want of a segment
    ptr<entry> first;
  };

  // Where a key is, or where it belongs.
  struct place {
    uint64_t hash = 0;
    ptr<shard> in{};
    uint64_t own = 0;      // its bucket
    uint64_t chain = 0;    // the bucket of its chain
    ptr<segment> where{};  // the segment of that
    ptr<entry> before{}, found{}, after{};
    uint64_t passed = 0;  // entries before it
    // Of the entries before it, the last one that `own` may not take and the first one that it may.
    ptr<entry> stays{}, first{};
  };

  static uint64_t order_of(key k) noexcept { return key_hash(k) >> shard_bits; }
  static bool precedes(uint64_t a, uint64_t b) noexcept {
    const uint64_t differing = a ^ b;
    return (a & differing & (~differing + 1)) == 0 && differing != 0;
  }
  static bool is_sampled(uint64_t hash) noexcept { return hash >> (64 - sample_bits) == 0; }
  static uint64_t buckets(const shard& s) noexcept { return segment_buckets << s.doublings; }
  static uint64_t parent_of(uint64_t bucket) noexcept { return bucket ^ std::bit_floor(bucket); }
  // Keys of this order pass `bucket` on their path.
  static bool passes(uint64_t order, uint64_t bucket) noexcept {
    const uint64_t bits = std::max(segment_buckets, std::bit_floor(bucket) << 1);
    return (order & (bits - 1)) == bucket;
  }

  template <class R>
  static ptr<segment> segment_of(const R& r, const shard& s, uint64_t bucket) {
    const ptr<page> p = s.pages[bucket >> (segment_bits + page_bits)];
    return p ? r.get(p).segments[bucket >> segment_bits & (page_segments - 1)] : ptr<segment>{};
  }

  // HASHMAP-1, from a bucket on.
  template <class R>
  static chain chain_of(const R& r, const shard& s, uint64_t bucket) {
    for (;; bucket = parent_of(bucket)) {
      const ptr<segment> where = segment_of(r, s, bucket);
      const ptr<entry> first =
          where ? r.get(where).buckets[bucket & (segment_buckets - 1)] : ptr<entry>{};
      if (first || bucket < segment_buckets) return {bucket, where, first};
    }
  }

  template <class R>
  place search(const R& r, key k) const {
    place p;
    p.hash = key_hash(k);
    p.in = r.get(root_).shards[p.hash & (shards - 1)];
    const uint64_t order = p.hash >> shard_bits;
    if (!p.in) {
      p.own = p.chain = order & (segment_buckets - 1);
      return p;
    }
    const shard& s = r.get(p.in);
    p.own = order & (buckets(s) - 1);
    const chain c = chain_of(r, s, p.own);
    p.chain = c.bucket;
    p.where = c.where;
    p.after = c.first;
    while (p.after) {
      const entry& e = r.get(p.after);
      if (e.key == k) {
        p.found = p.after;
        break;
      }
      const uint64_t other = order_of(e.key);
      if (precedes(order, other)) break;
      if (!passes(other, p.own))
        p.stays = p.after;
      else if (!p.first)
        p.first = p.after;
      p.before = p.after;
      p.after = e.next;
      ++p.passed;
    }
    return p;
  }

  // Into the chain that there is, or as the first entry of its own bucket if that has none to take.
  void insert_here(typename S::tx& t, const place& p, ptr<shard> in, ptr<entry> at, entry& fresh) {
    if (p.chain != p.own && !p.first && !(p.after && passes(order_of(t.get(p.after).key), p.own))) {
      fill(t, in, p.own, at);
      return;
    }
    fresh.next = p.after;
    set_link(t, p, in, p.chain, p.before, at);
  }

  // Into its own bucket, with the entries that this may take over from the chain.
  void insert_and_take(typename S::tx& t, const place& p, ptr<shard> in, ptr<entry> at,
                       entry& fresh) {
    ptr<entry> last{}, rest = p.after;
    while (rest) {
      const entry& e = t.get(rest);
      if (!passes(order_of(e.key), p.own)) break;
      last = rest;
      rest = e.next;
    }
    if (last) fresh.next = p.after;
    if (p.first || last) set_link(t, p, in, p.chain, p.stays, rest);
    if (p.first) t.edit(p.before, &entry::next) = at;
    if (last && rest) t.edit(last, &entry::next) = ptr<entry>{};
    fill(t, in, p.own, p.first ? p.first : at);
  }

  void set_link(typename S::tx& t, const place& p, ptr<shard> in, uint64_t bucket,
                ptr<entry> before, ptr<entry> to) {
    if (before)
      t.edit(before, &entry::next) = to;
    else if (p.where)
      t.edit(p.where, &segment::buckets, bucket & (segment_buckets - 1)) = to;
    else
      fill(t, in, bucket, to);
  }

  // Sets the link of a bucket that was empty; its segment may not exist.
  void fill(typename S::tx& t, ptr<shard> in, uint64_t bucket, ptr<entry> first) {
    const uint64_t index = bucket & (segment_buckets - 1);
    if (const ptr<segment> where = segment_of(t, t.get(in), bucket)) {
      t.edit(where, &segment::buckets, index) = first;
      return;
    }
    auto [where, fresh] = t.template make<segment>();
    fresh.buckets[index] = first;
    const uint64_t page_number = bucket >> (segment_bits + page_bits);
    const uint64_t number = bucket >> segment_bits & (page_segments - 1);
    if (const ptr<page> p = t.get(in).pages[page_number]) {
      t.edit(p, &page::segments, number) = where;
      return;
    }
    auto [p, fresh_page] = t.template make<page>();
    fresh_page.segments[number] = where;
    t.edit(in, &shard::pages, page_number) = p;
  }

  ptr<shard> make_shard(typename S::tx& t, uint64_t number) {
    const ptr<shard> at = t.template make<shard>().at;
    t.edit(root_, &root::shards, number) = at;
    return at;
  }

  void count_up(typename S::tx& t, ptr<shard> in) {
    const uint64_t doublings = t.get(in).doublings;
    const uint64_t sampled = ++t.edit(in, &shard::sampled);
    if (sampled > segment_buckets << doublings >> sample_bits && doublings < doublings_max)
      t.edit(in, &shard::doublings) = doublings + 1;
  }

  void clear_segment(typename S::tx& t, ptr<segment> s) {
    for (ptr<entry> at : t.get(s).buckets) {
      while (at) {
        const ptr<entry> next = t.get(at).next;
        t.destroy(at);
        at = next;
      }
    }
    t.destroy(s);
  }

  template <class R>
  std::string check_shard(const R& r, const shard& s, uint64_t number) const {
    if (s.doublings > doublings_max)
      return "HASHMAP-3: " + std::to_string(s.doublings) + " doublings";
    uint64_t sampled = 0;
    for (uint64_t b = 0; b < segment_buckets << doublings_max; ++b) {
      const ptr<segment> where = segment_of(r, s, b);
      if (!where) {
        b |= segment_buckets - 1;
        continue;
      }
      ptr<entry> at = r.get(where).buckets[b & (segment_buckets - 1)];
      if (at && b >= buckets(s))
        return "HASHMAP-3: bucket " + std::to_string(b) + " is beyond the table";
      for (const entry* last = nullptr; at;) {
        const entry& e = r.get(at);
        const std::string name = "key " + std::to_string(e.key) + " in bucket " + std::to_string(b);
        const uint64_t order = order_of(e.key);
        if (shard_of(e.key) != number) return "HASHMAP-1: " + name + " is of another shard";
        if (chain_of(r, s, order & (buckets(s) - 1)).bucket != b)
          return "HASHMAP-1: " + name + " would be looked for elsewhere";
        if (last != nullptr && !precedes(order_of(last->key), order))
          return "HASHMAP-2: " + name + " is out of order";
        sampled += is_sampled(key_hash(e.key));
        last = &e;
        at = e.next;
      }
    }
    if (sampled != s.sampled)
      return "HASHMAP-4: sampled is " + std::to_string(s.sampled) + ", not " +
             std::to_string(sampled);
    return "";
  }

  ptr<root> root_;
};

}  // namespace scute::workloads
