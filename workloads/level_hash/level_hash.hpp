// SPDX-License-Identifier: BSD-3-Clause
// Level hashing (entry.hpp names the paper) on a store: a transaction for each operation, a bucket
// of 128 bytes in an object of its own.
//
//   LEVEL-1  There are two levels: 2^n buckets on top and half as many at the bottom. A key has two
//       buckets in each, and is in one slot of those four; nowhere else, and not twice.
//   LEVEL-2  An insertion takes the emptier one of the top buckets, then of the bottom ones; then
//       an entry of theirs is moved to its other bucket in the same level, or from the bottom to
//       the top: one entry at most.
//   LEVEL-3  If that is not enough, a level of twice the size comes on top, what is at the bottom
//       is rehashed, and the old top becomes the bottom. Every step is a transaction, and between
//       any two of them each entry is in one slot. The next opening of the table finishes a growth
//       that was interrupted.
//
// Threads: one lock for all. ENTS measures one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

#include "workloads/level_hash/entry.hpp"
#include "workloads/locks/node_lock.hpp"
#include "workloads/stores/section.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/tables/row_table.hpp"

namespace scute::workloads::level {

template <store S>
class table {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  struct slot {
    key k;
    value v;
    uint8_t used;
  };
  struct bucket {
    slot slots[level::slots];
  };
  static_assert(sizeof(bucket) == 128);
  using buckets = row_table<S, bucket>;
  using head = typename buckets::head;
  struct root {
    uint64_t bits;  // of the number of buckets on top
    head top, bottom;
    head fresh;  // the next top, while it is made and filled
    head gone;   // the last bottom, while it is freed
  };

  /// A table of 2^bits and 2^(bits - 1) buckets, bits >= 2, or the one that is there. The store
  /// stays the caller's, and outlives this. No other thread may use the table meanwhile.
  table(S& s, ptr<root> at, unsigned bits)
      : store_(s),
        root_(at),
        top_(s.view(), s.view().get(at).top),
        bottom_(s.view(), s.view().get(at).bottom),
        fresh_(s.view(), s.view().get(at).fresh),
        gone_(s.view(), s.view().get(at).gone) {
    if (bits < 2) throw std::invalid_argument("level hashing: two bits at least");
    if (store_.view().get(root_).bits == 0)
      store_.transact([&](tx& t) { t.edit(root_, &root::bits) = bits; });
    const uint64_t top_buckets = uint64_t{1} << store_.view().get(root_).bits;
    extend(top_, &root::top, top_buckets);
    extend(bottom_, &root::bottom, top_buckets / 2);
    for_each([&](const key&, const value&) { ++entries_; });
    if (fresh_.size() != 0) grow();
    free_gone();
  }
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  /// True: new; false: the value was replaced.
  bool insert(const key& k, const value& v) {
    for (;;) {
      const found what = in_section(store_, lock_, [&](tx& t) { return put(t, k, v); });
      if (what != found::no_room) {
        if (what == found::nothing) ++entries_;
        return what == found::nothing;
      }
      const std::lock_guard hold(lock_);
      // Another thread may have been here in between: then it grows more than it has to.
      grow();
    }
  }
  /// True: it was there.
  bool update(const key& k, const value& v) {
    return in_section(store_, lock_, [&](tx& t) {
      const place p = find(t, k);
      if (p.at) t.edit(p.at, &bucket::slots, p.slot).v = v;
      return static_cast<bool>(p.at);
    });
  }
  /// True: it was there.
  bool remove(const key& k) {
    const bool there = in_section(store_, lock_, [&](tx& t) {
      const place p = find(t, k);
      if (p.at) t.edit(p.at, &bucket::slots, p.slot).used = 0;
      return static_cast<bool>(p.at);
    });
    if (there) --entries_;
    return there;
  }
  /// f(const value&), with the lock held. False: there is none.
  template <class F>
  bool read(const key& k, F&& f) const {
    return in_reading(store_, lock_, [&](const auto& r) {
      const place p = find(r, k);
      if (p.at) f(r.get(p.at).slots[p.slot].v);
      return static_cast<bool>(p.at);
    });
  }

  uint64_t entries() const noexcept { return entries_; }
  uint64_t capacity() const noexcept { return (top_.size() + bottom_.size()) * level::slots; }
  double load_factor() const noexcept {
    return static_cast<double>(entries_.load()) / static_cast<double>(capacity());
  }

  /// Without the lock: no other thread may write.
  template <class F>
  void for_each(F&& f) const {
    const auto& r = store_.view();
    for (const buckets* level : {&fresh_, &top_, &bottom_})
      for (uint64_t i = 0; i < level->size(); ++i)
        for (const slot& s : r.get((*level)[i]).slots)
          if (s.used != 0) f(s.k, s.v);
  }
  std::string check() const {
    const auto& r = store_.view();
    const root& now = r.get(root_);
    const uint64_t top_buckets = uint64_t{1} << now.bits;
    if (now.top.rows != top_buckets || now.bottom.rows != top_buckets / 2 ||
        top_.size() != now.top.rows || bottom_.size() != now.bottom.rows)
      return "level: the levels have other sizes";
    if (now.fresh.rows != 0 || now.gone.rows != 0) return "level: a step was left undone";
    uint64_t n = 0;
    std::unordered_set<uint64_t> seen;
    for (const buckets* level : {&top_, &bottom_})
      for (uint64_t i = 0; i < level->size(); ++i)
        for (const slot& s : r.get((*level)[i]).slots) {
          if (s.used == 0) continue;
          if (s.used != 1) return "level: a slot that is neither used nor free";
          const auto mine = hashes(s.k).in(level->size());
          if (mine[0] != i && mine[1] != i) return "level: an entry in a bucket of others";
          if (!seen.insert(hashes(s.k).first).second) return "level: a key that is there twice";
          ++n;
        }
    return n == entries_ ? "" : "level: another number of entries";
  }
  void clear() {
    while (take_away(top_, &root::top) || take_away(bottom_, &root::bottom)) {
    }
    store_.transact([&](tx& t) { t.edit(root_, &root::bits) = 0; });
    entries_ = 0;
  }

 private:
  enum class found : uint8_t { nothing, the_key, no_room };
  struct place {
    ptr<bucket> at;
    uint64_t slot;
  };
  static constexpr uint64_t none = level::slots;

  template <class R>
  place find(const R& r, const key& k) const {
    const hashes h(k);
    const auto above = h.in(top_.size()), below = h.in(bottom_.size());
    // The four buckets are in four places of memory: that is most of what a search takes.
    const bucket* const all[] = {&r.get(top_[above[0]]), &r.get(top_[above[1]]),
                                 &r.get(bottom_[below[0]]), &r.get(bottom_[below[1]])};
    for (const bucket* b : all) __builtin_prefetch(b);
    for (const buckets* level : {&top_, &bottom_})
      for (const uint64_t i : h.in(level->size())) {
        const ptr<bucket> at = (*level)[i];
        const bucket& b = r.get(at);
        for (uint64_t s = 0; s < level::slots; ++s)
          if (b.slots[s].used != 0 && b.slots[s].k == k) return {at, s};
      }
    return {};
  }

  template <class R>
  static uint64_t free_slot(const R& r, ptr<bucket> at) {
    const bucket& b = r.get(at);
    for (uint64_t s = 0; s < level::slots; ++s)
      if (b.slots[s].used == 0) return s;
    return none;
  }
  template <class R>
  static unsigned used(const R& r, ptr<bucket> at) {
    unsigned n = 0;
    for (const slot& s : r.get(at).slots) n += s.used != 0;
    return n;
  }

  found put(tx& t, const key& k, const value& v) {
    if (const place p = find(t, k); p.at) {
      t.edit(p.at, &bucket::slots, p.slot).v = v;
      return found::the_key;
    }
    return put_new(t, {k, v, 1}, top_, bottom_) ? found::nothing : found::no_room;
  }
  // LEVEL-2, for any two levels, one above the other.
  static bool put_new(tx& t, const slot& s, const buckets& upper, const buckets& lower) {
    const hashes h(s.k);
    for (const buckets* level : {&upper, &lower}) {
      const auto mine = h.in(level->size());
      const ptr<bucket> both[] = {(*level)[mine[0]], (*level)[mine[1]]};
      const ptr<bucket> emptier = used(t, both[0]) <= used(t, both[1]) ? both[0] : both[1];
      if (const uint64_t i = free_slot(t, emptier); i != none) {
        t.edit(emptier, &bucket::slots, i) = s;
        return true;
      }
    }
    for (const buckets* level : {&upper, &lower})
      for (const uint64_t b : h.in(level->size()))
        for (uint64_t i = 0; i < level::slots; ++i) {
          const slot moved = t.get((*level)[b]).slots[i];
          const ptr<bucket> to = (*level)[hashes(moved.k).other(level->size(), b)];
          if (move(t, (*level)[b], i, to, moved, s)) return true;
        }
    for (const uint64_t b : h.in(lower.size()))
      for (uint64_t i = 0; i < level::slots; ++i) {
        const slot moved = t.get(lower[b]).slots[i];
        for (const uint64_t to : hashes(moved.k).in(upper.size()))
          if (move(t, lower[b], i, upper[to], moved, s)) return true;
      }
    return false;
  }
  // The entry makes way for the new one, if the other bucket has a free slot.
  static bool move(tx& t, ptr<bucket> from, uint64_t i, ptr<bucket> to, const slot& moved,
                   const slot& s) {
    const uint64_t free = free_slot(t, to);
    if (free == none) return false;
    t.edit(to, &bucket::slots, free) = moved;
    t.edit(from, &bucket::slots, i) = s;
    return true;
  }

  void extend(buckets& level, head root::* field, uint64_t n) {
    while (level.size() < n)
      store_.transact([&](tx& t) {
        level.add(t, t.edit(root_, field), n - level.size(), [](uint64_t, bucket&) {});
      });
  }
  bool take_away(buckets& level, head root::* field) {
    return store_.transact([&](tx& t) {
      return (t.get(root_).*field).rows != 0 && level.take_away(t, t.edit(root_, field));
    });
  }
  // LEVEL-3. The lock is held.
  void grow() {
    extend(fresh_, &root::fresh, 2 * top_.size());
    for (uint64_t b = 0; b < bottom_.size(); ++b) {
      const ptr<bucket> from = bottom_[b];
      if (used(store_.view(), from) == 0) continue;
      store_.transact([&](tx& t) {
        bucket& all = t.open(from);
        for (slot& s : all.slots) {
          if (s.used == 0) continue;
          if (!put_new(t, s, fresh_, top_))
            throw std::length_error("level hashing: a new level without room");
          s = slot{};
        }
      });
    }
    store_.transact([&](tx& t) {
      root& r = t.open(root_);
      ++r.bits;
      r.gone = r.bottom;
      r.bottom = r.top;
      r.top = r.fresh;
      r.fresh = head{};
    });
    gone_ = std::move(bottom_);
    bottom_ = std::move(top_);
    top_ = std::move(fresh_);
    fresh_ = buckets();
    free_gone();
  }
  void free_gone() {
    while (take_away(gone_, &root::gone)) {
    }
  }

  S& store_;
  ptr<root> root_;
  mutable node_lock lock_;
  buckets top_, bottom_, fresh_, gone_;
  std::atomic<uint64_t> entries_{0};
};

}  // namespace scute::workloads::level
