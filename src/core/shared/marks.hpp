// SPDX-License-Identifier: BSD-3-Clause
// The marks of a pool: the position of its last scrub, and the time of a checkpoint. A line after
// each copy of the superblock has them (format::pool_marks).
//
// MARK-1 Everything that was committed before the time of the checkpoint is durable in the pool,
//    whatever becomes of a log in a file of its own. Only engine spec with such a log writes it:
//    when a checkpoint has nothing left that was committed before it began, and at closing.
// MARK-2 An opening without a lost log copies that time to the superblock, with the session whose
//    log is lost (format::lost_log), before its caller has the pool. It stays there.
#pragma once

#include "core/shared/state.hpp"

namespace scute::core::pool {

// Now, CLOCK_REALTIME.
uint64_t calendar_ns() noexcept;

// The valid line with the highest sequence; zeros if there is none. It is read from the file, so
// that a lost page does no harm.
format::pool_marks read_marks(const state& s) noexcept;

// Writes all three copies, durably, with the next sequence. Nothing depends on it, so a failure is
// not reported.
void mark_scrub(state& s, uint64_t position, uint64_t started_ns, uint64_t completed_ns);

// MARK-1. Writes one copy, and each time another one: the others have an earlier time, which is as
// true. The caller has the writer, and fences.
void mark_checkpoint(state& s, medium::writer& w, uint64_t ns) noexcept;

// MARK-2. In memory: the superblock is not written.
void note_lost_log(state& s) noexcept;

}  // namespace scute::core::pool
