// SPDX-License-Identifier: BSD-3-Clause
// A lane's note, in a log-free pool, about where the in-place ranges of its transaction lie. A
// killed process leaves these ranges changed, with the old header, which looks like a scribble.
// Resolution rolls back both, and distinguishes them by the note
// (core/engine/logfree/crash_or_damage.hpp, TRACE-4).
//
// INPLACE-1 The note is in memory before the program gets its pointer, and until its transaction
//    has ended; so it survives a killed process. It is stored but not flushed: after a power
//    failure it may be missing or old.
// INPLACE-2 Only the report of a repair depends on it.
//
// A note of an earlier session stays until everything is resolved. Until then in-place ranges of
// the lane go through the log, which needs no note.
#pragma once

#include <vector>

#include "core/shared/parity/columns.hpp"

namespace scute::core::pool {

void note_in_place(const state& s, lane& l, data_range hull) noexcept;
void forget_in_place(const state& s, lane& l) noexcept;

// Whether this lane's note is of an earlier session. It may no longer be needed: ask only while
// something is still to be resolved.
bool has_earlier_note(const state& s, const lane& l) noexcept;

// The ranges that notes of the epochs after `resolved` and before `present` name.
std::vector<data_range> noted_in_place(const state& s, uint64_t resolved, uint64_t present);

}  // namespace scute::core::pool
