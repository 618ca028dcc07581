// SPDX-License-Identifier: BSD-3-Clause
// Remembers which cells of a column were damaged together, as erasure searches have found
// (core/repair/erasure/erasure_search.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/layout/recipe.hpp"

namespace scute::core::pool {

// Cells of one column: data rows, and after them the parities.
struct cell_set {
  uint32_t count = 0;
  uint16_t cells[pool::parities_max] = {};

  bool has(uint64_t cell) const noexcept {
    for (uint32_t i = 0; i < count; ++i)
      if (cells[i] == cell) return true;
    return false;
  }
  void add(uint64_t cell) noexcept { cells[count++] = static_cast<uint16_t>(cell); }
  bool operator==(const cell_set& o) const noexcept {
    for (uint32_t i = 0; i < count; ++i)
      if (!o.has(cells[i])) return false;
    return count == o.count;
  }
};

// Sets that were right, by column block, and the latest of all: damage that hits one fragment often
// hits its neighbours. Any number of threads may use it.
class erasure_hints {
 public:
  // Likely ones first.
  std::vector<cell_set> all(uint64_t zone, uint64_t block) const;
  void add(uint64_t zone, uint64_t block, const cell_set& set);
  // Whether it is worth searching for the set of a block by its other fragments (ERASE-5): once for
  // each number of repairs.
  bool worth_learning(uint64_t zone, uint64_t block, uint64_t repairs);
  // How often add() was given something that was not known.
  uint64_t changes() const;

 private:
  using place = std::pair<uint64_t, uint64_t>;
  static constexpr size_t latest_max = 4, blocks_max = size_t{1} << 16;
  mutable plain_mutex mutex_;
  uint64_t changes_ SCUTE_GUARDED_BY(mutex_) = 0;
  std::vector<cell_set> latest_ SCUTE_GUARDED_BY(mutex_);  // the last one first
  std::map<place, cell_set> of_block_ SCUTE_GUARDED_BY(mutex_);
  std::map<place, uint64_t> learned_ SCUTE_GUARDED_BY(mutex_);  // repairs then
};

}  // namespace scute::core::pool
