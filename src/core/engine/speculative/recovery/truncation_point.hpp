// SPDX-License-Identifier: BSD-3-Clause
// The truncation point of engine `spec` on the medium: the LSN up to which all frames are void, and
// its check, in two places that are written in turn, in all copies (CLOG-2). A session's LSNs begin
// above all that were drawn before (SPEC-3). After a clean closing only the truncation point says
// how far that was: frames stay where they are.
//
// TRUNC-1 Before the superblock says `clean` both places have the same truncation point, durably,
//    in all copies. So if one differs, it was damaged, or a library without this rule has written
//    it. Then the LSNs of the log's frames count as well.
// TRUNC-2 They count as well if the log was not closed: a file of its own may be a copy of another
//    moment.
// TRUNC-3 No log has LSNs from lsn_max on. A truncation point with such an LSN is none. A log
//    with such a frame is refused, with nothing changed, before any LSN is counted up from there.
#pragma once

#include <cstdint>

#include "core/engine/speculative/log_file/log_location.hpp"

namespace scute::core::engine {

// The truncation point in its words, 0 if they have none, and in which of the two places it is.
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
