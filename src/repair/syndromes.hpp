// SPDX-License-Identifier: BSD-3-Clause
// The syndromes of column blocks as a search looks at them: read once, and less what is explained
// already by damage that is known. Of one thread; nothing in the pool changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "pool/columns.hpp"

namespace scute::core::repair {

class syndromes {
 public:
  // Needs parity. Reads a block when it is asked for first, under its stripe: for threads without
  // one.
  explicit syndromes(pool::state& s) : s_(s) {}

  using of_column =
      std::array<std::byte, pool::parities_max>;  // by parity; of those that are not there zero
  // Of the columns of [offset, offset + to.size()) of the data rows.
  void read(uint64_t offset, std::span<of_column> to);

  // The bytes of the data rows from `offset` on are known to be wrong by `change`: what the columns
  // would be without that.
  void take_out(uint64_t offset, std::span<const std::byte> change);

 private:
  std::byte* block_of(const pool::cell& c);  // column_block bytes for each parity

  pool::state& s_;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<std::byte>> blocks_;
};

}  // namespace scute::core::repair
