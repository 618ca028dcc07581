// SPDX-License-Identifier: BSD-3-Clause
// A member of a group, rebuilt from its own remains, the other members and the seal (seal.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pow/file/format.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

struct rebuilt {
  std::vector<std::byte> bytes;  // of the segment; pages that are not known are zeros
  uint64_t lines = 0;            // of these, that valid frames and the head take
  uint64_t pages = 0;            // that came from the others
  bool whole = false;            // as the table says
};
// Rebuilds member `which` of the seal's table t. Reads only.
rebuilt rebuild(const state& s, uint32_t seal, const seal_table& t, uint32_t which);

// POW-20: whether the XOR of several of these pages is zero, in whatever order they come. (One page
// of zeros does no harm: an even number of members remains, for whose sum no checksum is right.)
bool cancel_out(const std::vector<std::vector<std::byte>>& pages);

}  // namespace scute::core::pow
