// SPDX-License-Identifier: BSD-3-Clause
// A map for several threads under one lock. A writer holds it alone, from before the operation
// reads until its transaction has committed; a reader holds it shared.
//
// A handle is shared by all threads, and there is one per map: another handle would have another
// lock.
#pragma once

#include <shared_mutex>
#include <string>

#include "workloads/stores/section.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class Map>
class locked_map {
 public:
  using map = Map;
  using key = typename Map::key;
  using value = typename Map::value;
  using root = typename Map::root;

  /// The store stays the caller's, and outlives this.
  locked_map(S& s, typename S::template ptr<root> at) : store_(s), map_(at) {}
  locked_map(const locked_map&) = delete;
  locked_map& operator=(const locked_map&) = delete;

  /// True: new; false: the value was replaced.
  bool insert(key k, const value& v) {
    return in_section(store_, mutex_, [&](typename S::tx& t) { return map_.insert(t, k, v); });
  }
  /// True: it was there.
  bool remove(key k) {
    return in_section(store_, mutex_, [&](typename S::tx& t) { return map_.remove(t, k); });
  }
  /// f(const value&), with the lock held. False: there is none.
  template <class F>
  bool read(key k, F&& f) const {
    return in_reading(store_, mutex_, [&](const auto& r) {
      const value* const v = map_.get(r, k);
      if (v == nullptr) return false;
      f(*v);
      return true;
    });
  }

  /// Without the lock: no other thread may write.
  template <class F>
  void for_each(F&& f) const {
    map_.for_each(store_.view(), f);
  }
  std::string check() const { return map_.check(store_.view()); }
  void clear() {
    store_.transact([&](typename S::tx& t) { map_.clear(t); });
  }

 private:
  S& store_;
  map map_;
  mutable std::shared_mutex mutex_;
};

}  // namespace scute::workloads
