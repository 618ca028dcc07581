// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/table3.hpp"

#include <random>
#include <stdexcept>
#include <utility>

#include "workloads/maps/paper_sizes.hpp"
#include "workloads/stores/counting_store.hpp"

namespace scute::workloads {
namespace {

using keys = std::vector<uint64_t>;

// The standard's shuffle and distributions differ between libraries; this one does not.
void shuffle(keys& v, std::mt19937_64& random) {
  for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[random() % i]);
}

transaction_sizes averages(const counting_store& s) {
  const auto per = [&](uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(s.transactions());
  };
  const transaction_counts& c = s.total();
  return {per(c.new_bytes), per(c.new_objects), per(c.modified_bytes), per(c.modified_objects)};
}

template <class Map>
structure_sizes measure(std::string name, uint64_t object_bytes, const keys& in, const keys& out) {
  counting_store s;
  Map map(s.root<typename Map::root>());
  structure_sizes sizes{std::move(name), object_bytes, {}, {}};
  for (const uint64_t k : in)
    if (!s.transact([&](counting_store::tx& t) { return map.insert(t, k, Map::value::of(k)); }))
      throw std::logic_error(sizes.structure + " had a new key already");
  sizes.insert = averages(s);
  s.reset();
  for (const uint64_t k : out)
    if (!s.transact([&](counting_store::tx& t) { return map.remove(t, k); }))
      throw std::logic_error(sizes.structure + " has lost a key");
  sizes.remove = averages(s);
  s.transact([&](counting_store::tx& t) { map.clear(t); });
  return sizes;
}

template <class Map>
structure_sizes measure_nodes(const char* name, const keys& in, const keys& out) {
  return measure<Map>(name, sizeof(typename Map::node), in, out);
}

}  // namespace

std::vector<structure_sizes> table3(uint64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  // Among 64-bit numbers doubles are as good as impossible; measure() would notice one.
  keys in(n);
  for (uint64_t& k : in) k = random();
  keys out = in;
  shuffle(out, random);

  using S = counting_store;
  return {
      measure_nodes<paper_ctree<S>>("ctree", in, out),
      measure_nodes<paper_rbtree<S>>("rbtree", in, out),
      measure_nodes<paper_btree<S>>("btree", in, out),
      measure_nodes<paper_skiplist<S>>("skiplist", in, out),
      measure_nodes<paper_rtree<S>>("rtree", in, out),
      measure<paper_hashmap<S>>("hashmap", sizeof(paper_hashmap<S>::entry), in, out),
  };
}

}  // namespace scute::workloads
