// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing the three superblock copies.
//
// SB-1 At every instant at least one copy on the medium is valid, whatever sequence of failures
//    came before: copies are written one after the other, each durable before the next is touched,
//    so a failure tears one at most; and those that are not current (torn, damaged, old) come
//    first, so the last good one is never in the making. Of those the oldest comes first, so that
//    they lag by one and two writes at most.
// SB-2 The valid copy with the highest sequence counts; a reader that finds copies that are damaged
//    or older rewrites them (when it may write).
// SB-3 Opening and closing a pool write the superblock, and may be killed. The copies that this
//    leaves are no damage: valid copies one write older than the newest, another one two writes
//    older if there is one of the former, or one copy that is torn. A torn copy differs from the
//    newest one only in what an opening or closing changes, holds nothing there that one of the
//    last or the next would not have written, and its checksum is that of such a superblock,
//    whatever number that session had (SESSION-3). Everything else is damage. (In foreign pools it
//    also differs in what was noted of the user's file, which cannot be known a second time; there
//    the checksum is left out of account.)
#pragma once

#include "medium/medium.hpp"
#include "pool/format.hpp"

namespace scute::core::pool {

struct superblock_read {
  format::superblock newest{};
  bool damaged[3] = {};  // SB-3; those that are merely outdated or torn are not
};

// Finds the newest valid copy. Throws failure: SCUTE_E_FORMAT (not a pool), SCUTE_E_VERSION
// (features this library does not know), SCUTE_E_TRUNCATED, SCUTE_E_CORRUPT (no copy is left).
superblock_read read_superblock(const medium::medium& m, const std::string& path);

// Writes all copies with the next sequence number (SB-1); sb is updated. Counted as metadata.
void write_superblock(medium::writer& w, format::superblock& sb);

uint32_t superblock_checksum(const format::superblock& sb) noexcept;

// 64 bits that tell this pool's log entries from any other's.
uint64_t pool_salt(const format::superblock& sb) noexcept;

}  // namespace scute::core::pool
