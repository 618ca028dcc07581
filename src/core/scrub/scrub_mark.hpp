// SPDX-License-Identifier: BSD-3-Clause
// The position of the last scrub: a line after each copy of the superblock (format::scrub_mark).
#pragma once

#include "core/shared/state.hpp"

namespace scute::core::scrub {

// The valid line with the highest sequence; zeros if there is none.
format::scrub_mark read_mark(const pool::state& s) noexcept;

// Writes all three, durably, with the next sequence. Nothing depends on it, so a failure is not
// reported.
void write_mark(pool::state& s, uint64_t position, uint64_t started_ns, uint64_t completed_ns);

// A scrub's units are the column blocks of all zones, in order; this many there are.
inline uint64_t units_of(const pool::geometry& g) noexcept {
  return g.zone_count * (g.row_size / format::page);
}

}  // namespace scute::core::scrub
