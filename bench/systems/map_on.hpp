// SPDX-License-Identifier: BSD-3-Clause
// A map_system from a template of workloads/maps and a home: a store and the file that it is in.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "systems/drain_home.hpp"
#include "systems/map_system.hpp"
#include "workloads/maps/paper_sizes.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::bench {

template <class Home, class Map>
class map_on final : public map_system {
 public:
  using store = typename Home::store_type;

  template <class... Args>
  explicit map_on(Args&&... args)
      : home_(std::forward<Args>(args)...),
        map_(home_.store().template root<typename Map::root>()) {}

  ~map_on() override {
    // Elsewhere the nodes go with the file.
    if constexpr (std::is_same_v<store, workloads::volatile_store>)
      home_.store().transact([&](auto& tx) { map_.clear(tx); });
  }

  uint64_t insert(std::span<const uint64_t> keys) override {
    store& s = home_.store();
    uint64_t fresh = 0;
    for (const uint64_t key : keys) {
      const auto value = Map::value::of(~key);
      fresh += s.transact([&](auto& tx) { return map_.insert(tx, key, value); });
    }
    return fresh;
  }
  uint64_t get(std::span<const uint64_t> keys) override {
    const auto& reader = home_.store().view();
    uint64_t found = 0;
    for (const uint64_t key : keys) {
      const auto* const value = map_.get(reader, key);
      found += value != nullptr && value->number == ~key;
    }
    return found;
  }
  uint64_t remove(std::span<const uint64_t> keys) override {
    store& s = home_.store();
    uint64_t there = 0;
    for (const uint64_t key : keys)
      there += s.transact([&](auto& tx) { return map_.remove(tx, key); });
    return there;
  }

  uint64_t entries() override {
    uint64_t n = 0;
    map_.for_each(home_.store().view(), [&](uint64_t, const auto&) { ++n; });
    return n;
  }
  std::string check() override { return map_.check(home_.store().view()); }
  bool count(costs& out) override { return home_.count(out); }
  bool drain() override { return drain_home(home_); }

 private:
  Home home_;
  Map map_;
};

// The map of p.structure on this kind of home.
template <class Home, class... Args>
std::unique_ptr<map_system> make_map_on(const map_population& p, Args&&... args) {
  using store = typename Home::store_type;
  const auto make = [&]<class Map>(std::type_identity<Map>) -> std::unique_ptr<map_system> {
    return std::make_unique<map_on<Home, Map>>(std::forward<Args>(args)...);
  };
  if (p.structure == "ctree") return make(std::type_identity<workloads::paper_ctree<store>>());
  if (p.structure == "rbtree") return make(std::type_identity<workloads::paper_rbtree<store>>());
  if (p.structure == "btree") return make(std::type_identity<workloads::paper_btree<store>>());
  if (p.structure == "skiplist")
    return make(std::type_identity<workloads::paper_skiplist<store>>());
  if (p.structure == "rtree") return make(std::type_identity<workloads::paper_rtree<store>>());
  if (p.structure == "hashmap") return make(std::type_identity<workloads::paper_hashmap<store>>());
  throw std::invalid_argument("there is no map '" + p.structure + "'");
}

}  // namespace scute::bench
