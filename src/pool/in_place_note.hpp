// SPDX-License-Identifier: BSD-3-Clause
// The note of a lane of a log-free pool about the in-place ranges of its transaction: from where to
// where they lie. A killed process leaves them stored to, with the header of before, like a
// scribble. Resolution, which rolls back both, tells them apart by the note
// (engine/logfree/crash_or_damage.hpp, CAUSE-4).
//
// INPLACE-1 The note is there before the program gets its pointer, and until its transaction has
//    ended, as far as a killed process goes. It is stored, not flushed: after a power failure it
//    may be missing, or out of date. One of an earlier session stays until all is resolved:
//    meanwhile what the lane has in place goes through the log, which needs no note.
// INPLACE-2 Nothing depends on it but the report of a repair.
#pragma once

#include <vector>

#include "pool/columns.hpp"

namespace scute::core::pool {

void note_in_place(const state& s, lane& l, data_range hull) noexcept;
void forget_in_place(const state& s, lane& l) noexcept;

// This lane's note is of an earlier session. It may be one that is not needed any more: ask while
// something is still to be resolved.
bool has_earlier_note(const state& s, const lane& l) noexcept;

// The ranges that notes of the epochs after `resolved` and before `present` name.
std::vector<data_range> noted_in_place(const state& s, uint64_t resolved, uint64_t present);

}  // namespace scute::core::pool
