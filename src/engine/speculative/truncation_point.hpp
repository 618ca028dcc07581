// SPDX-License-Identifier: BSD-3-Clause
// The truncation point of engine `spec` on the medium: the LSN up to which all frames are void, and
// its check, in two places that are written by turns, in all copies (CLOG-2). A session begins
// above all that was drawn before (SPEC-3), and after a clean closing this alone tells how far that
// came: frames stay where they are.
//
// TRUNC-1 Before the superblock says `clean` both places have the same truncation point, durably,
//    in all copies. So where one differs, damage or a library that did not do so has been there,
//    and what the log itself has in frames counts as well.
// TRUNC-2 So it does where the log was not closed: a file of its own may be a copy of another
//         moment.
// TRUNC-3 No log has LSNs from sequence_max on. A truncation point that says so is none; a log with
//    a frame that does is refused, with nothing changed, before anything is counted up from there.
#pragma once

#include <cstdint>

#include "engine/speculative/log_location.hpp"

namespace scute::core::engine {

// The truncation point that its words tell, 0 if they tell none, and in which of the two places.
struct truncation_found {
  uint64_t lsn = 0;
  uint32_t place = 0;
};
uint64_t check_of_truncation_point(const pool::state& s,
                                   uint64_t lsn) noexcept;  // the second word
truncation_found read_truncation_point(const pool::state& s, const log_location& location) noexcept;
// Streams the two words to a place, in all copies.
void stream_truncation_point(const pool::state& s, const log_location& location, medium::writer& w,
                             truncation_found to) noexcept;

enum class truncation_words : uint8_t {
  alike,   // TRUNC-1
  unlike,  // each place has one truncation point, or nothing, in all copies
  damaged,
};
truncation_words look_at_truncation_point(const pool::state& s,
                                          const log_location& location) noexcept;

// Throws failure(SCUTE_E_CORRUPT) for TRUNC-3.
void require_lsn(const pool::state& s, uint64_t lsn);

}  // namespace scute::core::engine
