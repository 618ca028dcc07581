// SPDX-License-Identifier: BSD-3-Clause
// The ENTS paper's workloads as tasks: the structure that is built in a store before requests come.
// The structures are those of the paper's Table 3.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "workloads/tatp/database.hpp"
#include "workloads/tpcc/setup.hpp"

namespace scute::workloads::ents {

struct map_task {
  std::string structure;
  uint64_t value_size;  // 8 or 256
  uint64_t keys;        // that are there at first; twice as many at most
};
struct level_task {
  unsigned bits;  // of the number of buckets on top
};

using task = std::variant<map_task, tatp::setup, tpcc::setup, level_task>;

/// The maps: their locks are one per node, one in all, one for each of 64 shards, one in all.
inline const std::vector<std::string>& map_names() {
  static const std::vector<std::string> names{"bplus_tree", "rbtree", "hashmap", "skiplist"};
  return names;
}

/// Bytes of objects that a task makes and `requests` requests add to it, from above, without what a
/// store adds.
inline uint64_t bytes_of(const task& t, uint64_t requests) {
  struct visitor {
    uint64_t requests;
    uint64_t operator()(const map_task& m) const {
      const uint64_t node = m.structure == "skiplist" ? 200 : 64;
      return 2 * m.keys * (node + m.value_size + 32);
    }
    uint64_t operator()(const tatp::setup& s) const { return uint64_t{s.subscribers} * 900; }
    uint64_t operator()(const tpcc::setup& s) const {
      const uint64_t w = s.warehouses;
      const uint64_t customers = w * tpcc::districts * s.customers;
      if (s.runs == tpcc::part::orders)
        return w * s.items * 360 + uint64_t{s.items} * 110 + requests * 220 + 4096;
      return w * s.items * 360 + uint64_t{s.items} * 110 + customers * (800 + 80 + 2200) +
             requests * 1700 + 65536;
    }
    uint64_t operator()(const level_task& l) const {
      return (uint64_t{9} << l.bits) * 160;  // and, if it grows once, the next level
    }
  };
  return std::visit(visitor{requests}, t);
}

}  // namespace scute::workloads::ents
