// SPDX-License-Identifier: BSD-3-Clause
// STAMP's ssca2: the construction of a large graph. A transaction enters one edge: the target into
// the list of the edge's source, the source into the list of its target, and both lists become
// longer by one. These are four updates of four bytes each.
//
// How long the lists will be is counted beforehand, as in the benchmark's kernel, so the lists lie
// side by side in two arrays. Vertices come in groups of 64, and a group's lists begin on a page of
// their own: no page belongs to two groups.
//
// Locks: one for each group of vertices, of 256 in turn; an edge takes those of its two ends, the
// lower first.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "workloads/stamp/paged_array.hpp"
#include "workloads/stamp/ssca2_input.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class ssca2 {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;
  using numbers = paged_array<S, uint32_t>;
  static constexpr uint64_t group_size = numbers::per_page;

 public:
  using input = ssca2_input;

  // One direction: for each vertex how many neighbours it has, and which.
  struct side {
    typename numbers::root counts, lists;
  };
  struct root {
    side sides[2];  // targets, sources
  };

  ssca2(S& s, const input& graph, unsigned threads)
      : store_(s), graph_(graph), threads_(threads), root_(s.template root<root>()) {
    for (const bool to : {false, true}) plan(sides_[to], to);
  }

  void prepare() {
    for (const unsigned i : {0, 1}) {
      const side made{numbers::make(store_, graph_.vertices),
                      numbers::make(store_, sides_[i].list_length)};
      store_.transact([&](tx& t) { t.edit(root_, &root::sides, i) = made; });
      sides_[i].counts = numbers(store_.view(), made.counts);
      sides_[i].lists = numbers(store_.view(), made.lists);
    }
  }

  uint64_t run(unsigned thread) {
    const size_t n = graph_.edges.size(), end = n * (thread + 1) / threads_;
    uint64_t done = 0;
    for (size_t i = n * thread / threads_; i < end; ++i, ++done) add(graph_.edges[i]);
    return done;
  }

  // In the order in which they were entered.
  std::vector<uint32_t> targets(uint32_t v) const { return list(sides_[0], v); }
  std::vector<uint32_t> sources(uint32_t v) const { return list(sides_[1], v); }

  std::string check() const {
    using edge = input::edge;
    std::vector<edge> wanted = graph_.edges, forward, backward;
    for (uint32_t v = 0; v < graph_.vertices; ++v) {
      for (const uint32_t other : targets(v)) forward.push_back({v, other});
      for (const uint32_t other : sources(v)) backward.push_back({other, v});
    }
    for (auto* edges : {&wanted, &forward, &backward}) std::ranges::sort(*edges);
    if (forward != wanted) return "ssca2: the targets are not those of the edges";
    if (backward != wanted) return "ssca2: the sources are not those of the edges";
    return "";
  }

  void clear() {
    for (const unsigned i : {0, 1}) {
      sides_[i].counts.clear(store_);
      sides_[i].lists.clear(store_);
      store_.transact([&](tx& t) { t.edit(root_, &root::sides, i) = side{}; });
    }
  }

 private:
  struct plan_of_side {
    std::vector<uint64_t> begins;  // of a vertex's list
    uint64_t list_length = 0;
    numbers counts, lists;
  };

  void plan(plan_of_side& s, bool to) {
    std::vector<uint32_t> degree(graph_.vertices);
    for (const auto& e : graph_.edges) ++degree[to ? e.to : e.from];
    uint64_t& at = s.list_length;
    for (uint64_t v = 0; v < graph_.vertices; ++v) {
      if (v % group_size == 0) at = (at + group_size - 1) / group_size * group_size;
      s.begins.push_back(at);
      at += degree[v];
    }
  }

  static void append(tx& t, const plan_of_side& s, uint32_t v, uint32_t other) {
    uint32_t& count = s.counts.edit(t, v);
    s.lists.edit(t, s.begins[v] + count) = other;
    ++count;
  }
  void add(const input::edge& e) {
    const uint64_t a = lock_of(e.from), b = lock_of(e.to);
    const std::lock_guard first(locks_[std::min(a, b)].mutex);
    std::unique_lock<std::mutex> second;
    if (a != b) second = std::unique_lock(locks_[std::max(a, b)].mutex);
    store_.transact([&](tx& t) {
      append(t, sides_[0], e.from, e.to);
      append(t, sides_[1], e.to, e.from);
    });
  }

  std::vector<uint32_t> list(const plan_of_side& s, uint32_t v) const {
    const auto& r = store_.view();
    std::vector<uint32_t> all;
    for (uint32_t i = 0, n = s.counts.get(r, v); i < n; ++i)
      all.push_back(s.lists.get(r, s.begins[v] + i));
    return all;
  }

  struct alignas(128) lock {
    std::mutex mutex;
  };
  uint64_t lock_of(uint32_t v) const noexcept { return v / group_size % locks_.size(); }

  S& store_;
  const input& graph_;
  unsigned threads_;
  ptr<root> root_;
  plan_of_side sides_[2];
  std::array<lock, 256> locks_;
};

}  // namespace scute::workloads::stamp
