// SPDX-License-Identifier: BSD-3-Clause
// Finds damage to the log of engine `spec` that a crash cannot have caused, and reports it when the
// pool is opened, before the log is void. A crash tears only what no fence has passed. So the
// question is what had been fenced.
//
// GAP-1 A lane fences what it has appended before it appends under another LSN. So all of a lane's
//    frames except those of its highest LSN were durable in all copies; if one of these is flawed,
//    a copy was damaged. The checkpoint's lane appends several before its fence, so nothing follows
//    for it.
// GAP-2 A frame of a lane after a place without a frame, or parts without the others before a later
//    frame, prove that something decided is missing. It is reported as lost, at that place; no
//    record says any more which objects it changed. In a shared stream the later frame must be one
//    that was durable.
// GAP-3 A segment without a head has lost it if each copy of the head cannot be read, or has bytes
//    that no store of a head, torn or not, could have left. Places that cannot be read in too many
//    copies have lost frames, too.
// GAP-4 Damage that looks like a torn end is not reported: the last frames of a lane, damaged in
//    all copies.
// GAP-5 No frame follows the last frame of a segment. So the head of the next segment of its lane
//    says which LSN the lane had fenced by then. If that is above the truncation point and no frame
//    has it, it is missing.
//
// On GAP-1: in a stream that all lanes share each of them may have one LSN that was not fenced, and
// a fence covers all that was appended before it (CLOG-7). So all frames were durable, except those
// of the highest LSNs, as many as there are lanes.
#pragma once

#include <vector>

#include "core/engine/speculative/log_file/log_location.hpp"
#include "core/log/segment_reader.hpp"
#include "core/shared/state.hpp"

namespace scute::core::engine {

// A frame above the truncation point that recovery has found.
struct frame_seen {
  size_t segment;
  uint64_t position, length;  // lines; bytes
  uint64_t lsn, epoch;
  uint32_t lane;
  bool flawed, behind_gap;
  bool whole;  // all parts of its transaction or step are present
};

// Posts events, and counts. `frames`: all above `truncation_point`. `contents`: of each segment.
// Reads heads of segments.
void report_damage(pool::state& s, const log_location& location, const segment_list& list,
                   uint64_t truncation_point, const std::vector<frame_seen>& frames,
                   const std::vector<log::segment_contents>& contents);

// For a segment in which nothing counts: true if its head would be reported as lost after a crash
// (GAP-3). Then it has to begin with zeros.
bool is_misleading(const pool::state& s, const log_location& location,
                   const log::segment_layout& layout, const log::segment& at);
// Writes zeros there for all such segments. None of the segments is needed.
void clear_misleading(pool::state& s, medium::writer& w, const log_location& location,
                      const segment_list& list);

}  // namespace scute::core::engine
