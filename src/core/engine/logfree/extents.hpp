// SPDX-License-Identifier: BSD-3-Clause
// Fragments as ranges of the data rows, and ranges as parts of column blocks.
#pragma once

#include <cstdint>

#include "core/shared/fragment.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {

// The bytes of a fragment that its header vouches for, as ranges of the data rows.
template <typename Fn>
void for_each_extent(const pool::fragment& f, uint32_t covered, Fn&& fn) {
  if (f.payload == f.header + format::header_size)
    return fn(f.header, uint64_t{format::header_size} + covered);
  fn(f.header, uint64_t{format::header_size});
  if (covered != 0) fn(f.payload, uint64_t{covered});
}

// Calls fn(offset, zone, column, n) for the parts of a range that stay in one row and column block.
template <typename Fn>
void for_each_part(const pool::geometry& g, uint64_t offset, uint64_t length, Fn&& fn) {
  pool::for_each_block(g, offset, length, [&](uint64_t at, const pool::cell& c, uint64_t n) {
    fn(at, c.zone, c.column, n);
  });
}

}  // namespace scute::core::engine
