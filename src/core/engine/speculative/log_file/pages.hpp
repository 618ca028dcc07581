// SPDX-License-Identifier: BSD-3-Clause
// Divides a range into pages: the part of a column block in one row is one page.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/engine/speculative/block_table.hpp"

namespace scute::core::engine {

// Calls fn(offset, n) for the parts of a range that lie in one page each.
template <typename Fn>
void for_each_page(uint64_t offset, uint64_t length, Fn&& fn) {
  while (length != 0) {
    const uint64_t n = std::min(length, block_table::page - offset % block_table::page);
    fn(offset, n);
    offset += n;
    length -= n;
  }
}

}  // namespace scute::core::engine
