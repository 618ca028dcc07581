// SPDX-License-Identifier: BSD-3-Clause
// The file's blocks. A pool file is sparse, and a store to a hole of a file system that has no room
// ends the process (on a tmpfs a load from there does as well). So no store ever meets one:
//
// BLOCK-1 Superblocks, lanes, the headers of all zones and the parity of these have their blocks
//    before the first store of a creation. A chunk has its blocks, and those of its parity, before
//    the step that puts it below its zone's high-water mark. Nothing else is stored to, and beyond
//    that mark nothing is read through the mapping. So only a creation and the use of further
//    chunks can meet a full file system; they fail with SCUTE_E_NOSPC, with nothing changed.
//    Whatever stays below the mark, a free and an overwriting included, needs no block.
// BLOCK-2 A file can lose blocks while it is closed: a copy has holes where there were zeros, or a
//    user punches one. An opening that may write gives back those that BLOCK-1 promises before its
//    first store, and fails with SCUTE_E_NOSPC if it cannot. The bytes that recovery is about to
//    store have their blocks as well, wherever the mark is before.
//
// A crash between a reservation and its step leaves unused blocks; the next one takes them. File
// systems that copy on write may want another block for every store; there, nothing is promised.
#pragma once

#include <cstdint>
#include <vector>

#include "pool/state.hpp"

namespace scute::core::pool {

// For data of a zone that comes into use, and the parity that with it does so: 0, or an errno.
int reserve_columns(const state& s, uint64_t offset, uint64_t length) noexcept;
// That errno says that the file system, or the quota, is full.
bool no_room(int error) noexcept;

// Columns [column, column + n) of a zone are used by no row, and their parity is zeros, as it must
// be then: they may have no blocks, so no thread looks at them through the mapping. n at most
// column_block.
bool unused_and_zero(const state& s, uint64_t zone, uint64_t column, uint64_t n) noexcept;

// BLOCK-1, in a new file.
void reserve_structures(const state& s);

// BLOCK-2, by what the zones' descriptors say; if one is damaged, the unknown part is left out.
// marks: the chunks of each zone that were looked after before, none at first.
void fill_holes(const state& s, std::vector<uint32_t>& marks);
// And for a store of recovery's.
void fill_holes(const state& s, uint64_t offset, uint64_t length);

}  // namespace scute::core::pool
