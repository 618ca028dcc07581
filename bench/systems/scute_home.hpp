// SPDX-License-Identifier: BSD-3-Clause
// A Scute pool of one configuration for the data structures of workloads/.
#pragma once

#include <scute/pool.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "core/medium/persist.hpp"
#include "systems/scute_pool.hpp"
#include "workloads/stores/flushing_store.hpp"
#include "workloads/stores/scute_store.hpp"

namespace scute::bench {

template <class Store>
class scute_home_of {
 public:
  using store_type = Store;

  scute_home_of(const std::string& path, const scute_options& o,
                temporary_pool::start_function start = scute_create)
      : file_(path, o, start) {
    scute_pool* const pool = file_.release();
    pool_ = scute::pool::adopt(pool);
  }

  store_type& store() noexcept { return store_; }
  // Does now what the engine would have done later.
  void drain() { pool_.drain(); }
  bool count(costs& out) const {
    out = costs_of(pool_.native_handle());
    return true;
  }

 private:
  store_type make_store() {
    if constexpr (std::is_same_v<Store, workloads::flushing_store>)
      return Store(pool_, {core::medium::persist().flush, core::medium::persist().fence});
    else
      return Store(pool_);
  }

  temporary_pool file_;  // removes the file after the pool is closed
  scute::pool pool_;
  store_type store_ = make_store();
};

using scute_home = scute_home_of<workloads::scute_store>;
using scute_in_place_home = scute_home_of<workloads::scute_in_place_store>;
using scute_flushing_home = scute_home_of<workloads::flushing_store>;

}  // namespace scute::bench
