// SPDX-License-Identifier: BSD-3-Clause
// Batches that something depends on: of each lane only the latest, since a batch needs those before
// it in its lane (POW-7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pow/file/format.hpp"

namespace scute::core::pow {

class dependencies {
 public:
  bool empty() const noexcept { return all_.empty(); }
  size_t size() const noexcept { return all_.size(); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }
  void clear() noexcept { all_.clear(); }

  void add(uint32_t lane, uint64_t number) {
    for (dependency& d : all_)
      if (d.lane == lane) {
        d.number = std::max(d.number, number);
        return;
      }
    all_.push_back({lane, 0, number});
  }
  void add(const dependencies& other) {
    for (const dependency& d : other) add(d.lane, d.number);
  }
  // Keeps only those for which keep(lane, number) is true.
  template <typename Keep>
  void leave(Keep&& keep) {
    std::erase_if(all_, [&](const dependency& d) { return !keep(d.lane, d.number); });
  }

 private:
  std::vector<dependency> all_;
};

}  // namespace scute::core::pow
