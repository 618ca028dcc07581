// SPDX-License-Identifier: BSD-3-Clause
// Recovers from the log of engine `spec` when a pool is opened after a crash
// (core/engine/speculative/speculative.hpp).
//
//   0. the truncation point: the highest that the lanes' words and the segments' heads name
//   1. frames above it whose transaction is complete; those that are damaged in one copy are stored
//      again, all are written back, a fence
//   2. their records, in the order of their LSNs: of a byte the newest one is stored last, and
//      written back
//   3. a fence. The parity of the columns that this has touched is computed later (unresolved.hpp)
//
// REPLAY-1 Nothing is written that rests on a frame, a segment's head, a list or a truncation point
//    that may not be durable in all copies: a dead process has stored it, and possibly no fence has
//    completed that.
// REPLAY-2 The truncation point stays, so all of this may be cut short anywhere and run again: the
//    records stay live until a checkpoint has gone past them.
//
// One thread does it. A pool of 16 GiB whose log of 64 MiB was 70 percent full opened in 53 ms; the
// goal was 100 ms (docs/benchmarks.md, "Engines"). The parity took longer, so several threads
// compute it after the opening. Several threads here would have to sort the records by blocks
// first, since the newest one of a byte has to be stored last.
#pragma once

#include <vector>

#include "core/engine/speculative/log_file/log_location.hpp"
#include "core/engine/speculative/recovery/unresolved.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

struct replayed {
  uint64_t truncation_point = 0;
  uint64_t highest = 0;               // LSN of any frame
  std::vector<uint64_t> last_frames;  // of each segment, among those that count; 0: none
  recovered_ranges written;           // the ranges of their records
  tx::recovery_report report;
};

// Alone in the pool. Throws failure(SCUTE_E_CORRUPT), with nothing changed, if a record contradicts
// the geometry.
replayed replay(pool::state& s, medium::writer& w, log_location& location, const segment_list& list,
                tx::recovery_watch* watch);
// The truncation point alone, of a pool that was closed properly.
uint64_t find_truncation_point(const pool::state& s, const log_location& location,
                               const segment_list& list);
// The highest LSN of any frame; 0: there is none. Reads all of the log that was ever used.
uint64_t highest_frame(const pool::state& s, const log_location& location,
                       const segment_list& list);

}  // namespace scute::core::engine
