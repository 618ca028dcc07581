// SPDX-License-Identifier: BSD-3-Clause
// How much of a zone is in use, as its descriptor has it, for
// code that needs it before the heap has loaded the zone.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/planted.hpp"
#include "pool/fragment.hpp"

namespace scute::core::pool {

struct zone_usage {
  uint32_t high_water;  // chunks that were ever used
  uint32_t log_chunks;  // chunks lent to logs
};

// If the descriptor is damaged, everything counts as in use, which is safe to assume: what was
// never used is zeros, or it is noise that the parity of columns recomputed meanwhile has in it,
// which a check finds.
inline zone_usage read_usage(const state& s, uint64_t z) noexcept {
  const uint64_t at = s.geo.zone_offset(z);
  if (!valid(s, metadata_fragment(at, format::type_zone)) && !SCUTE_PLANTED(extent_check))
    return {s.geo.chunks, 1};
  format::zone_descriptor d;
  std::memcpy(&d, s.at(at), sizeof d);
  return {std::min(d.high_water, s.geo.chunks), d.log_chunks};
}

// Tells the columns of a zone how far its rows are in use.
inline void set_used_end(state& s, uint64_t z, uint32_t high_water) noexcept {
  s.used_end[z].store(s.geo.chunk_base + (uint64_t{high_water} << s.geo.chunk_shift),
                      std::memory_order_release);
}

}  // namespace scute::core::pool
