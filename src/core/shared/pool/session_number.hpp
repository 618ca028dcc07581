// SPDX-License-Identifier: BSD-3-Clause
// The session that a superblock, or the head of a log file, belongs to. The epoch counts the
// sessions of one pool. Two copies of a pool have equal epochs; these numbers distinguish them.
// They are in formerly reserved bytes: older libraries keep them, or write zeros.
//
// SESSION-1 A session that may write has a random number, which is not 0 and ends with the last 16
//    bits of its epoch. Its superblock and the head of its log have this number and that of the
//    previous session. If the first does not end like the epoch next to it, both are ignored: an
//    older library has kept them. The second is ignored if it does not end like the epoch before.
// SESSION-2 0 means unknown and matches any number: then the epoch alone decides.
// SESSION-3 The bytes check themselves: four of them give all of them the CRC-32C of zeros. So a
//    superblock's checksum does not depend on its number, and for a torn copy it can be computed
//    without the number (SB-3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/format.hpp"

namespace scute::core::pool {

struct state;

struct session_number {
  uint64_t number;  // of the session of this epoch
  uint64_t before;  // of the session before
  uint32_t check;   // SESSION-3
  uint32_t reserved;
};
inline constexpr size_t session_number_offset = 296;  // in the superblock; in the head of a log 80
static_assert(sizeof(session_number) == 24 &&
              offsetof(format::superblock, reserved) == session_number_offset &&
              offsetof(format::log_file_head, reserved) == 80);

// SESSION-1. 0 where they are to be ignored.
session_number session_of(const format::superblock& sb) noexcept;
session_number session_of(const format::log_file_head& h) noexcept;
// SESSION-2
bool may_be_same(uint64_t a, uint64_t b) noexcept;

// Gives the session of this epoch, which is the superblock's or the next one, a number, unless it
// has one. In memory only: the superblock is not written.
void number_session(state& s, uint64_t epoch);
// Whether a crash may have left the bytes of `copy` while those of the newest superblock, or of its
// neighbours, were written (SB-3).
bool may_be_torn_session(const format::superblock& copy, const format::superblock& newest) noexcept;
// Copies the session numbers of the superblock in memory to a log's head.
void copy_session(const format::superblock& from, format::log_file_head& to) noexcept;

}  // namespace scute::core::pool
