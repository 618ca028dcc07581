// SPDX-License-Identifier: BSD-3-Clause
// How much of a zone is in use, by its descriptor, for code that needs it before the heap has
// loaded the zone.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/shared/fragment.hpp"

namespace scute::core::pool {

struct zone_usage {
  uint32_t high_water;  // chunks that were ever used
  uint32_t log_chunks;  // chunks lent to logs
};

// If the descriptor is damaged, everything counts as in use, which is safe: unused rows are zeros,
// or noise that parity recomputed meanwhile includes, which a check finds.
inline zone_usage read_usage(const state& s, uint64_t z) noexcept {
  const uint64_t at = s.geo.zone_offset(z);
  if (!valid(s, metadata_fragment(at, format::type_zone))) return {s.geo.chunks, 1};
  format::zone_descriptor d;
  std::memcpy(&d, s.at(at), sizeof d);
  return {std::min(d.high_water, s.geo.chunks), d.log_chunks};
}

// Sets how far the rows of a zone are in use.
inline void set_used_end(state& s, uint64_t z, uint32_t high_water) noexcept {
  s.used_end[z].store(s.geo.chunk_base + (uint64_t{high_water} << s.geo.chunk_shift),
                      std::memory_order_release);
}

}  // namespace scute::core::pool
