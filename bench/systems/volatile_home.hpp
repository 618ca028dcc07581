// SPDX-License-Identifier: BSD-3-Clause
// The C++ heap for the data structures of workloads/.
#pragma once

#include "row.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::bench {

class volatile_home {
 public:
  using store_type = workloads::volatile_store;
  static constexpr bool frees = true;  // nothing else does, at the end

  store_type& store() noexcept { return store_; }
  bool count(costs&) const { return false; }
  void stop_writing() const {}

 private:
  store_type store_;
};

}  // namespace scute::bench
