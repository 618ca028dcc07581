// SPDX-License-Identifier: BSD-3-Clause
// The maps with values of such sizes that their nodes are those of Pangolin's Table 3, as closely
// as pointers of 8 bytes allow. This file names the maps that are measured.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/maps/btree.hpp"
#include "workloads/maps/ctree.hpp"
#include "workloads/maps/hashmap.hpp"
#include "workloads/maps/rbtree.hpp"
#include "workloads/maps/rtree.hpp"
#include "workloads/maps/skiplist.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::workloads {

// A value of N bytes: a number, in every word of it.
template <size_t N>
struct payload {
  static_assert(N % 8 == 0 && N > 8);
  uint64_t number;
  uint64_t rest[N / 8 - 1];

  static payload of(uint64_t n) {
    payload p;
    p.number = n;
    for (uint64_t& word : p.rest) word = n;
    return p;
  }
  friend bool operator==(const payload&, const payload&) = default;
};
template <>
struct payload<8> {
  uint64_t number;

  static payload of(uint64_t n) { return {n}; }
  friend bool operator==(const payload&, const payload&) = default;
};

template <store S>
using paper_ctree = ctree<S, payload<8>>;
template <store S>
using paper_rbtree = rbtree<S, payload<40>>;
template <store S>
using paper_btree = btree<S, payload<24>>;
template <store S>
using paper_skiplist = skiplist<S, payload<208>>;
template <store S>
using paper_rtree = rtree<S, payload<8>>;
template <store S>
using paper_hashmap = hashmap<S, payload<24>>;

namespace detail {
// Pointers have 8 bytes in every store.
template <template <class> class Map>
using node_of = typename Map<volatile_store>::node;
}  // namespace detail

static_assert(sizeof(detail::node_of<paper_ctree>) == 56);
static_assert(sizeof(detail::node_of<paper_rbtree>) == 80);
static_assert(sizeof(detail::node_of<paper_btree>) == 296);  // the paper's: 304
static_assert(sizeof(detail::node_of<paper_skiplist>) == 408);
static_assert(sizeof(detail::node_of<paper_rtree>) == 4136);
static_assert(sizeof(paper_hashmap<volatile_store>::entry) == 40);

}  // namespace scute::workloads
