// SPDX-License-Identifier: BSD-3-Clause
// Which session a superblock, or the head of a log file, is of. The epoch counts the sessions of
// one pool; two copies of it count alike, and the numbers tell them apart. They lie in bytes that
// were reserved: older libraries keep them, or write zeros.
//
// SESSION-1 A session that may write has a random number, which is not 0 and ends with the last 16
//    bits of its epoch. Its superblock, and the head of its log, have that and the number of the
//    session before. They say nothing where they do not end as the epoch of the superblock, or
//    head, that they are in: then an older library was there, and has kept them.
// SESSION-2 0 means unknown, and is as good as any number: the epoch decides alone.
// SESSION-3 The bytes check themselves, by four that make CRC-32C of all of them that of zeros. So
//    the checksum of a superblock is the same whatever number it has, and of a torn copy it can be
//    computed without the number (SB-3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/format.hpp"

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

// SESSION-1. 0 where they say nothing.
session_number session_of(const format::superblock& sb) noexcept;
session_number session_of(const format::log_file_head& h) noexcept;
// SESSION-2
bool may_be_same(uint64_t a, uint64_t b) noexcept;

// The session of this epoch, which is the superblock's or the next one, gets a number, unless it
// has one. In memory: the superblock is not written.
void number_session(state& s, uint64_t epoch);
// A crash may have left the bytes of `copy` while those of the newest superblock, or of its
// neighbours, were written (SB-3).
bool may_be_torn_session(const format::superblock& copy, const format::superblock& newest) noexcept;
// The session of the superblock in memory goes into a head.
void copy_session(const format::superblock& from, format::log_file_head& to) noexcept;

}  // namespace scute::core::pool
