// SPDX-License-Identifier: BSD-3-Clause
// A task in a store, and requests that are run on it. All of these have one interface for the
// benchmark that measures them:
//
//   W(store, task)            builds what the task says, or finds it again
//   w.run(thread, requests)   in any number of threads at once; returns how many requests did what
//                             they should
//   w.check()                 "" if all is sound; no thread runs
//   w.clear()                 frees everything
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "workloads/ents/requests.hpp"
#include "workloads/ents/tasks.hpp"
#include "workloads/level_hash/level_hash.hpp"
#include "workloads/maps/bplus_tree.hpp"
#include "workloads/maps/locked_hashmap.hpp"
#include "workloads/maps/locked_map.hpp"
#include "workloads/maps/paper_sizes.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/tpcc/conditions.hpp"
#include "workloads/tpcc/database.hpp"

namespace scute::workloads::ents {

// Spread over all keys; a bijection.
inline uint64_t key_of(uint64_t number) noexcept {
  return key_hash(number);
}

template <store S, class Map>
class map_work {
 public:
  using value = typename Map::value;

  map_work(S& s, const map_task& t)
      : store_(s), root_(s.template root<typename Map::root>()), map_(s, root_) {
    for (uint64_t i = 0; i < t.keys; ++i) map_.insert(key_of(i), value::of(i));
  }
  uint64_t run(unsigned, std::span<const entry_request> requests) {
    uint64_t done = 0, seen = 0;
    for (const entry_request& q : requests) {
      const uint64_t key = key_of(q.key);
      switch (q.what) {
        case action::read: done += map_.read(key, [&](const value& v) { seen += v.number; }); break;
        case action::update: done += !map_.insert(key, value::of(q.value)); break;
        case action::insert: done += map_.insert(key, value::of(q.value)); break;
        case action::remove: done += map_.remove(key); break;
      }
    }
    asm volatile("" : : "r"(seen));  // keeps the reads from being optimized away
    return done;
  }
  std::string check() const { return map_.check(); }
  uint64_t entries() const {
    uint64_t n = 0;
    map_.for_each([&](uint64_t, const value&) { ++n; });
    return n;
  }
  void clear() {
    if constexpr (requires { map_.clear(); })
      map_.clear();
    else
      store_.transact([&](auto& t) { typename Map::map(root_).clear(t); });
  }

 private:
  S& store_;
  typename S::template ptr<typename Map::root> root_;
  Map map_;
};

template <store S>
class tatp_work {
 public:
  using database = tatp::database<S>;
  tatp_work(S& s, const tatp::setup& how)
      : database_(s, s.template root<typename database::root>(), how) {}
  // A request that fails is done as well: TATP says how many there are.
  uint64_t run(unsigned, std::span<const tatp::request> requests) {
    uint64_t seen = 0;
    for (const tatp::request& q : requests) database_.run(q, seen);
    asm volatile("" : : "r"(seen));
    return requests.size();
  }
  std::string check() const { return database_.check(); }
  void clear() { database_.clear(); }

 private:
  database database_;
};

template <store S>
class tpcc_work {
 public:
  using database = tpcc::database<S>;
  tpcc_work(S& s, const tpcc::setup& how)
      : database_(s, s.template root<typename database::root>(), how) {}
  uint64_t run(unsigned, std::span<const tpcc::request> requests) {
    typename database::terminal me;
    uint64_t done = 0;
    for (const tpcc::request& q : requests) {
      const bool back = !q.pays && q.order.rolls_back;
      done +=
          database_.run(q, me) == (back ? tpcc::outcome::rolled_back : tpcc::outcome::committed);
    }
    asm volatile("" : : "r"(me.seen));
    return done;
  }
  std::string check() const { return tpcc::check(database_); }
  void clear() { database_.clear(); }

 private:
  database database_;
};

// Runs the requests on a table of level hashing, in whatever form.
template <class Table>
uint64_t run_on_level(Table& table, std::span<const entry_request> requests) {
  using level::key;
  using level::value;
  uint64_t done = 0, seen = 0;
  for (const entry_request& q : requests) {
    const key k = key::of(q.key);
    switch (q.what) {
      case action::read: done += table.read(k, [&](const value& v) { seen += v.number(); }); break;
      case action::update: done += table.update(k, value::of(q.value)); break;
      case action::insert: done += table.insert(k, value::of(q.value)); break;
      case action::remove: done += table.remove(k); break;
    }
  }
  asm volatile("" : : "r"(seen));
  return done;
}

template <store S>
class level_work {
 public:
  using table = level::table<S>;
  level_work(S& s, const level_task& t)
      : table_(s, s.template root<typename table::root>(), t.bits) {}
  uint64_t run(unsigned, std::span<const entry_request> requests) {
    return run_on_level(table_, requests);
  }
  std::string check() const { return table_.check(); }
  uint64_t capacity() const { return table_.capacity(); }
  void clear() { table_.clear(); }

 private:
  table table_;
};

// Calls f(std::type_identity<W>) with the work of a map task in a store.
template <store S, class F>
auto with_map_work(const map_task& t, F&& f) {
  const auto sized = [&]<class V>(std::type_identity<V>) {
    if (t.structure == "bplus_tree") return f(std::type_identity<map_work<S, bplus_tree<S, V>>>());
    if (t.structure == "rbtree")
      return f(std::type_identity<map_work<S, locked_map<S, rbtree<S, V>>>>());
    if (t.structure == "skiplist")
      return f(std::type_identity<map_work<S, locked_map<S, skiplist<S, V>>>>());
    return f(std::type_identity<map_work<S, locked_hashmap<S, V>>>());
  };
  return t.value_size == 8 ? sized(std::type_identity<payload<8>>())
                           : sized(std::type_identity<payload<256>>());
}

}  // namespace scute::workloads::ents
