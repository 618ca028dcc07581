// SPDX-License-Identifier: BSD-3-Clause
// The objects and bytes that one insertion and one removal of each map make and modify: Table 3 of
// the Pangolin paper, counted on our maps. The numbers follow from n and the seed and from nothing
// of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scute::workloads {

// Averages per transaction; the terms are those of stores/counting_store.hpp.
struct transaction_sizes {
  double new_bytes, new_objects, modified_bytes, modified_objects;
};

struct structure_sizes {
  std::string structure;  // "ctree", "rbtree", "btree", "skiplist", "rtree", "hashmap"
  uint64_t object_bytes;  // a node; of the hash map an entry
  transaction_sizes insert, remove;
};

/// Inserts n different random keys into each of the maps of maps/paper_sizes.hpp, one per
/// transaction, and then removes them all in another random order. n >= 1. A thousand keys take
/// about 5 MB meanwhile: the nodes of the radix tree.
std::vector<structure_sizes> table3(uint64_t n, uint64_t seed);

}  // namespace scute::workloads
