// SPDX-License-Identifier: BSD-3-Clause
// The spans of a foreign pool (core/layout/foreign.hpp): how they are made around an existing file,
// and how they grow with it.
//
// SPAN-1 While a pool is made there is no log for it, and no process has it open. Its content is
//    durable before the pool has a name; otherwise there is no pool.
// SPAN-2 Growing writes the headers of further fragments to their places, with their parity, before
//    the step that makes the object larger. Until then the bytes belong to no object, so a crash
//    leaves the object as it was, and the next attempt writes them again.
// SPAN-3 The step writes the object's first header and that of its previous last fragment, which
//    grows. Both checksums are computed from verified bytes.
#pragma once

#include "core/heap/heap.hpp"
#include "core/layout/foreign.hpp"
#include "scute/scute.h"

namespace scute::core::heap {

// Reserves the blocks that these spans take, of both files (BLOCK-1 in
// core/shared/parity/blocks.hpp). Throws SCUTE_E_NOSPC.
void reserve_foreign_spans(const pool::state& s, uint64_t size);
// For a pool that is being made, whose zones have only the anchor and their descriptors (with the
// high-water marks of this size). Writes chunk headers, headers of fragments of the `size` bytes of
// the user's file that the medium has joined, and then all parity. Durable at the lane's next
// fence.
void make_foreign_spans(pool::state& s, pool::lane& l, uint64_t size, scute_progress_fn progress,
                        void* arg);

// The user's file has grown to `size` bytes; the new ones are joined, and zeros. Extends its
// objects over them. No thread writes to the last fragment meanwhile. On an exception
// (SCUTE_E_NOSPC, SCUTE_E_IO and the like) the objects cover no less of the file than before.
void grow_foreign_spans(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t size);

// Zeros the bytes after the `size` covered ones, in chunks that are in use: anything else there is
// a scribble. When the user's file grows, its zeros take this place.
void clear_foreign_slack(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t size);

// Bytes of the user's file that the objects cover according to their headers (FOREIGN-4). there:
// the bytes that the file has. Throws SCUTE_E_CORRUPT if the headers contradict each other.
uint64_t covered_by_spans(pool::state& s, heap& h, uint64_t there);

}  // namespace scute::core::heap
