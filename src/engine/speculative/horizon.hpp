// SPDX-License-Identifier: BSD-3-Clause
// The horizon of engine `spec` on the medium: the sequence up to which all frames are void, and its check, in two places that are
// written by turns, in all copies (CLOG-2). A session begins above all that was drawn before (SPEC-3), and after a clean closing this alone
// tells how far that came: frames stay where they are.
//
// HORIZON-1 Before the superblock says `clean` both places have the same horizon, durably, in all copies. So where one differs, damage
//    or a library that did not do so has been there, and what the log itself has in frames counts as well.
// HORIZON-2 So it does where the log was not closed: a file of its own may be a copy of another moment.
// HORIZON-3 No log has sequences from sequence_max on. A horizon that says so is none; a log with a frame that does is refused, with
//    nothing changed, before anything is counted up from there.
#pragma once

#include <cstdint>

#include "engine/speculative/log_location.hpp"

namespace scute::core::engine {

// The horizon that its words tell, 0 if they tell none, and in which of the two places.
struct horizon_found {
  uint64_t sequence = 0;
  uint32_t place = 0;
};
uint64_t check_of_horizon(const pool::state& s, uint64_t sequence) noexcept;  // the second word
horizon_found read_horizon(const pool::state& s, const log_location& location) noexcept;
// Streams the two words to a place, in all copies.
void stream_horizon(const pool::state& s, const log_location& location, medium::writer& w,
                    horizon_found to) noexcept;

enum class horizon_words : uint8_t {
  alike,   // HORIZON-1
  unlike,  // each place has one horizon, or nothing, in all copies
  damaged,
};
horizon_words look_at_horizon(const pool::state& s, const log_location& location) noexcept;

// Throws failure(SCUTE_E_CORRUPT) for HORIZON-3.
void require_sequence(const pool::state& s, uint64_t sequence);

}  // namespace scute::core::engine
