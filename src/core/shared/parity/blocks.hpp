// SPDX-License-Identifier: BSD-3-Clause
// The file's blocks. A pool file is sparse. If the file system is full, a store to a hole ends the
// process (on a tmpfs a load from a hole too). So no store ever meets a hole:
//
// BLOCK-1 A creation gives blocks to superblocks, lanes, and the headers of all zones with their
//    parity before its first store, or none if the file system has fewer free. A chunk and its
//    parity get theirs before the step that puts it below its zone's high-water mark. Nothing else
//    is stored to, and nothing beyond that mark is read through the mapping.
// BLOCK-2 A file can lose blocks while it is closed: a copy has holes where there were zeros, or a
//    user punches one. An opening for writing restores the blocks of BLOCK-1 before its first
//    store, and fails with SCUTE_E_NOSPC if it cannot. Bytes that recovery will store get their
//    blocks too, even beyond the mark.
//
// So only a creation and the use of new chunks can meet a full file system. They fail with
// SCUTE_E_NOSPC, with nothing changed. Operations that stay below the mark, frees and overwrites
// included, need no block.
//
// A crash between a reservation and its step leaves unused blocks; the next reservation takes them.
// File systems that copy on write may need another block for every store; there, nothing is
// promised.
#pragma once

#include <cstdint>
#include <vector>

#include "core/shared/state.hpp"

namespace scute::core::pool {

// Reserves blocks for data of a zone that comes into use, and for parity that comes into use with
// it. Returns 0, or an errno.
int reserve_columns(const state& s, uint64_t offset, uint64_t length) noexcept;
// Whether this errno means that the file system or the quota is full.
bool no_room(int error) noexcept;

// Whether no row uses columns [column, column + n) of a zone, so that their parity is zeros: they
// may have no blocks, so no thread reads them through the mapping. n is at most column_block.
bool unused_and_zero(const state& s, uint64_t zone, uint64_t column, uint64_t n) noexcept;

// BLOCK-1, in a new file, and the bytes that it reserves.
uint64_t structures_size(const geometry& g) noexcept;
void reserve_structures(const state& s);

// BLOCK-2, as the zones' descriptors say; if one is damaged, the chunks of its zone are left out.
// marks: the chunks of each zone that earlier calls have handled, empty at first.
void fill_holes(const state& s, std::vector<uint32_t>& marks);
// The same for a store of recovery.
void fill_holes(const state& s, uint64_t offset, uint64_t length);

}  // namespace scute::core::pool
