// SPDX-License-Identifier: BSD-3-Clause
// A skip list of 24 levels (Pugh, CACM 33(6), 1990): sorted lists, each of about half of the nodes
// of the one below, so that a search makes its large steps high up.
//
//   SKIP-1  A node is in the lists 0 to height - 1, where height follows from its key's hash: no
//       random state, runs repeat, and nothing about it has to be stored.
//   SKIP-2  Every list ascends by key; list 0 has all nodes.
//   SKIP-3  The links of a node beyond its height are null.
//   SKIP-4  The root holds the lists' beginnings; a null predecessor means the root.
//
// Changes of a transaction. insert: one new node, and the link before it in each of its lists: 16
// bytes on average, in one or two objects mostly; links of one predecessor that lie side by side
// are one edit. remove: the same links; the node is freed. A new value for a key: the value only.
//
// Half of the nodes go up, and not a quarter, though that would save 0.7 edits per insertion: a
// search visits (1 - p^2) / (p ln(1/p)) ln n nodes, a quarter more for p = 1/4 than for p = 1/2,
// and among a million nodes each visit is a cache miss. The key and the lowest links share a cache
// line; the value, which no search needs, comes last.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "workloads/maps/key_hash.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class skiplist {
 public:
  using key = uint64_t;
  using value = V;
  static constexpr int levels = 24;

  struct node;
  using link = typename S::template ptr<node>;
  struct node {
    uint64_t key;
    link next[levels];
    V value;
  };
  struct root {
    link next[levels];
  };

  explicit skiplist(typename S::template ptr<root> at) : root_(at) {}

  static int height(key k) noexcept {
    return 1 + std::min(std::countr_zero(key_hash(k)), levels - 1);
  }

  bool insert(typename S::tx& t, key k, const V& v) {
    place p;
    if (const link found = search(t, k, p)) {
      t.edit(found, &node::value) = v;
      return false;
    }
    auto [at, fresh] = t.template make<node>();
    const int n = height(k);
    fresh.key = k;
    fresh.value = v;
    link to[levels];
    for (int i = 0; i < n; ++i) {
      fresh.next[i] = p.after[i];
      to[i] = at;
    }
    connect(t, p, n, to);
    return true;
  }

  bool remove(typename S::tx& t, key k) {
    place p;
    const link found = search(t, k, p);
    if (!found) return false;
    const int n = height(k);
    link to[levels];
    std::copy_n(t.get(found).next, n, to);
    connect(t, p, n, to);
    t.destroy(found);
    return true;
  }

  template <class R>
  const V* get(const R& r, key k) const {
    const link* next = r.get(root_).next;
    link known{};  // its key is larger
    for (int i = levels - 1; i >= 0; --i) {
      while (next[i] && !(next[i] == known)) {
        const node& x = r.get(next[i]);
        if (x.key == k) return &x.value;
        if (x.key > k) {
          known = next[i];
          break;
        }
        next = x.next;
      }
    }
    return nullptr;
  }

  template <class R, class F>
  void for_each(const R& r, F&& f) const {
    for (link at = r.get(root_).next[0]; at;) {
      const node& x = r.get(at);
      f(x.key, x.value);
      at = x.next[0];
    }
  }

  template <class R>
  std::string check(const R& r) const {
    uint64_t expected[levels] = {}, counted[levels] = {};
    for (link at = r.get(root_).next[0]; at;) {
      const node& x = r.get(at);
      for (int i = 0; i < levels; ++i) {
        if (i < height(x.key))
          ++expected[i];
        else if (x.next[i])
          return "SKIP-3: node " + std::to_string(x.key) + " has a link at level " +
                 std::to_string(i);
      }
      at = x.next[0];
    }
    for (int i = 0; i < levels; ++i) {
      const node* last = nullptr;
      for (link at = r.get(root_).next[i]; at;) {
        const node& x = r.get(at);
        const std::string where =
            "node " + std::to_string(x.key) + " at level " + std::to_string(i);
        if (height(x.key) <= i) return "SKIP-1: " + where + " is higher than its key says";
        if (last != nullptr && last->key >= x.key) return "SKIP-2: " + where + " is out of order";
        ++counted[i];
        last = &x;
        at = x.next[i];
      }
      if (counted[i] != expected[i])
        return "SKIP-1: level " + std::to_string(i) + " has " + std::to_string(counted[i]) +
               " nodes, not " + std::to_string(expected[i]);
    }
    return "";
  }

  void clear(typename S::tx& t) {
    link at = t.get(root_).next[0];
    if (!at) return;
    while (at) {
      const link next = t.get(at).next[0];
      t.destroy(at);
      at = next;
    }
    std::ranges::fill(t.edit(root_, &root::next, 0, levels), link{});
  }

 private:
  // On every level the last node with a smaller key, and its successor there.
  struct place {
    link before[levels];
    link after[levels];
  };

  template <class R>
  link search(const R& r, key k, place& p) const {
    link before{}, known{};
    key known_key = 0;
    const link* next = r.get(root_).next;
    for (int i = levels - 1; i >= 0; --i) {
      while (next[i] && !(next[i] == known)) {
        const node& x = r.get(next[i]);
        if (x.key >= k) {
          known = next[i];
          known_key = x.key;
          break;
        }
        before = next[i];
        next = x.next;
      }
      p.before[i] = before;
      p.after[i] = next[i];
    }
    return p.after[0] && known_key == k ? p.after[0] : link{};
  }

  // Links the predecessors on levels 0 to n - 1 to to[0] ... to[n - 1].
  void connect(typename S::tx& t, const place& p, int n, const link* to) {
    for (int i = 0; i < n;) {
      int end = i + 1;
      while (end < n && p.before[end] == p.before[i]) ++end;
      const auto first = static_cast<uint64_t>(i), count = static_cast<uint64_t>(end - i);
      const auto links = p.before[i] ? t.edit(p.before[i], &node::next, first, count)
                                     : t.edit(root_, &root::next, first, count);
      std::copy(to + i, to + end, links.begin());
      i = end;
    }
  }

  typename S::template ptr<root> root_;
};

}  // namespace scute::workloads
