// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "systems/map_system.hpp"

namespace scute::bench {
namespace {

struct structure_sizes {
  const char* structure;
  uint64_t value;
  double per_key;  // bytes of nodes per random key, from above
};

constexpr structure_sizes all[] = {
    {"ctree", 8, 56},         {"rbtree", 40, 80},
    {"btree", 24, 304.0 / 3},  // at least three of seven items, except in the root
    {"skiplist", 208, 408},   {"rtree", 8, 4136 * 1.3},  // a node per key, and inner ones
    {"hashmap", 24, 40 + 48},  // and its part of the table, which may just have doubled
};

const structure_sizes& of(const std::string& structure) {
  for (const structure_sizes& s : all)
    if (structure == s.structure) return s;
  throw std::invalid_argument("there is no map '" + structure + "'");
}

}  // namespace

const std::vector<std::string>& map_structures() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    for (const structure_sizes& s : all) n.emplace_back(s.structure);
    return n;
  }();
  return names;
}

uint64_t map_value_size(const std::string& structure) {
  return of(structure).value;
}

uint64_t map_pool_size(const map_population& p) {
  const double nodes = static_cast<double>(p.keys) * (of(p.structure).per_key + 72) * 1.5;
  return (static_cast<uint64_t>(nodes) + (uint64_t{48} << 20)) & ~uint64_t{4095};
}

}  // namespace scute::bench
