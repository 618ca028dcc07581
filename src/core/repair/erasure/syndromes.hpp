// SPDX-License-Identifier: BSD-3-Clause
// The syndromes of column blocks for a search: read once, without the part that known damage
// explains already. Used by one thread; nothing in the pool changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/shared/parity/columns.hpp"

namespace scute::core::repair {

class syndromes {
 public:
  // Needs parity. Reads a block at the first use, under its stripe: for threads without a stripe.
  explicit syndromes(pool::state& s) : s_(s) {}

  using of_column =
      std::array<std::byte, pool::parities_max>;  // by parity; zero for parities that do not exist
  // Reads the syndromes of the columns of [offset, offset + to.size()) of the data rows.
  void read(uint64_t offset, std::span<of_column> to);

  // The bytes of the data rows from `offset` on are known to be wrong by `change`: removes the
  // effect of that from the syndromes.
  void take_out(uint64_t offset, std::span<const std::byte> change);

 private:
  std::byte* block_of(const pool::cell& c);  // column_block bytes for each parity

  pool::state& s_;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<std::byte>> blocks_;
};

}  // namespace scute::core::repair
