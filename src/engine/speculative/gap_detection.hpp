// SPDX-License-Identifier: BSD-3-Clause
// What a crash cannot have done to the log of engine `spec`, so damage has: told when the pool is
// opened, before the log is void. A crash tears what no fence had passed, and nothing else; so the
// question is what had been fenced.
//
// GAP-1 A lane fences what it has appended before it appends under another LSN. So of a lane's
//    frames all but those of its highest LSN were durable in all copies: where one of these is
//    flawed, a copy was damaged. Of the checkpoint's lane, which appends several before its fence,
//    nothing of the kind is known. In a stream that all lanes share each of them may have one LSN
//    that was not fenced, and fences are those of all that came before (CLOG-7): so all but as many
//    of the highest were durable as there are lanes.
// GAP-2 So a frame of a lane behind a place without one (in a shared stream: one that was durable),
//    or parts without the others before a later frame, prove that something decided is missing: it
//    is told as lost, at that place. Which objects it was about nobody knows any more.
// GAP-3 A segment without a head has lost one if no copy of the head could be what a store of one
//    has left, torn or not; or if it cannot be read. So have places that cannot be read in too many
//    copies.
// GAP-4 Damage that looks like a torn end is not reported: the last frames of a lane, damaged in
//    all copies.
// GAP-5 The last frame of a segment has nothing behind it. So the head of the segment that its lane
//    goes on in says which LSN the lane had fenced by then; if that is above the truncation point
//    and no frame has it, it is missing.
#pragma once

#include <vector>

#include "engine/speculative/log_location.hpp"
#include "log/segment_reader.hpp"
#include "pool/state.hpp"

namespace scute::core::engine {

// A frame above the truncation point that recovery has found.
struct frame_seen {
  size_t segment;
  uint64_t position, length;  // lines; bytes
  uint64_t lsn, epoch;
  uint32_t lane;
  bool flawed, behind_gap;
  bool whole;  // all parts of what was decided with it are there
};

// Posts events, and counts. `frames`: all above `truncation_point`; `contents`: of each segment.
// Reads heads of segments.
void tell_damage(pool::state& s, const log_location& location, const segment_list& list,
                 uint64_t truncation_point, const std::vector<frame_seen>& frames,
                 const std::vector<log::segment_contents>& contents);

// Of a segment that nothing counts in: true if its head would be told as lost after a crash
// (GAP-3). Then it is to begin with zeros.
bool is_misleading(const pool::state& s, const log_location& location,
                   const log::segment_layout& layout, const log::segment& at);
// Sees to that for all segments: none of them is needed.
void clear_misleading(pool::state& s, medium::writer& w, const log_location& location,
                      const segment_list& list);

}  // namespace scute::core::engine
