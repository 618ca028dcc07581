// SPDX-License-Identifier: BSD-3-Clause
// The maps under test, as types: a kind names a map for whatever store.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "workloads/maps/paper_sizes.hpp"

namespace scute::test {

struct ctree_kind {
  static constexpr const char* name = "ctree";
  static constexpr bool ordered = true;
  template <class S>
  using map = workloads::paper_ctree<S>;
};
struct rbtree_kind {
  static constexpr const char* name = "rbtree";
  static constexpr bool ordered = true;
  template <class S>
  using map = workloads::paper_rbtree<S>;
};
struct btree_kind {
  static constexpr const char* name = "btree";
  static constexpr bool ordered = true;
  template <class S>
  using map = workloads::paper_btree<S>;
};
struct skiplist_kind {
  static constexpr const char* name = "skiplist";
  static constexpr bool ordered = true;
  template <class S>
  using map = workloads::paper_skiplist<S>;
};
struct rtree_kind {
  static constexpr const char* name = "rtree";
  static constexpr bool ordered = true;
  template <class S>
  using map = workloads::paper_rtree<S>;
};
struct hashmap_kind {
  static constexpr const char* name = "hashmap";
  static constexpr bool ordered = false;
  template <class S>
  using map = workloads::paper_hashmap<S>;
};

using every_kind =
    ::testing::Types<ctree_kind, rbtree_kind, btree_kind, skiplist_kind, rtree_kind, hashmap_kind>;

// Names of test suites: "workload_scute/btree" instead of a number.
struct kind_name {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::name;
  }
};

}  // namespace scute::test
