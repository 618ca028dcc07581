// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the three superblock copies.
//
// SB-1 At every moment at least one copy on the medium is valid, whatever failures came before.
//    Copies are written one after the other, each durable before the next is touched, so a failure
//    tears one at most. Copies that are not current (torn, damaged, old) come first, the oldest of
//    them first. So the last good one is never being written, and copies lag by at most two writes.
// SB-2 The valid copy with the highest sequence counts; a reader that may write rewrites copies
//    that are damaged or older.
// SB-3 Opening and closing a pool write the superblock, and may be killed. The copies that this
//    leaves are not damage: valid copies one write older than the newest, another one two writes
//    older if there is one of the former, or one torn copy. Everything else is damage.
//
// About SB-3: a torn copy differs from the newest one only in what an opening or closing changes.
// It has only values there that one of the last or the next would have written, and its checksum is
// that of such a superblock, whatever number that session had (SESSION-3). In foreign pools it also
// differs in the user file's record, which cannot be recomputed; there the checksum is ignored.
#pragma once

#include "core/layout/format.hpp"
#include "core/medium/medium.hpp"

namespace scute::core::pool {

struct superblock_read {
  format::superblock newest{};
  bool damaged[3] = {};  // SB-3; outdated or torn copies do not count
};

// Finds the newest valid copy. Throws failure: SCUTE_E_FORMAT (not a pool), SCUTE_E_VERSION
// (features this library does not know), SCUTE_E_TRUNCATED, SCUTE_E_CORRUPT (no copy is left).
superblock_read read_superblock(const medium::medium& m, const std::string& path);

// Writes all copies with the next sequence number (SB-1); sb is updated. Counted as metadata.
void write_superblock(medium::writer& w, format::superblock& sb);

uint32_t superblock_checksum(const format::superblock& sb) noexcept;

// 64 bits that distinguish this pool's log entries from any other's.
uint64_t pool_salt(const format::superblock& sb) noexcept;

}  // namespace scute::core::pool
