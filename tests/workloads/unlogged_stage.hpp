// SPDX-License-Identifier: BSD-3-Clause
// A store without a log as a stage, in DRAM; see stages.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/medium/persist.hpp"
#include "workloads/stores/unlogged_store.hpp"

namespace scute::test {

class unlogged_stage {
 public:
  using store_type = workloads::unlogged_store;
  static constexpr bool aborts = false;

  store_type& store() { return store_; }
  void reopen() {}
  static std::optional<size_t> objects() { return std::nullopt; }
  void verify() {}

 private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> memory_ = std::vector<line>((32U << 20) / sizeof(line));
  workloads::arena arena_{{memory_.front().bytes, memory_.size() * sizeof(line)}};
  store_type store_{arena_, {core::medium::persist().flush, core::medium::persist().fence}};
};

}  // namespace scute::test
