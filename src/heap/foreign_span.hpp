// SPDX-License-Identifier: BSD-3-Clause
// The spans of a foreign pool (pool/foreign.hpp): how they are made around a file that is there,
// and how they come to cover more of it.
//
// SPAN-1 While a pool is made nothing of it has a log, and no process has it open. Its content is
//        durable before the pool has a name, or there is no pool.
// SPAN-2 Growing puts the headers of further fragments to their place, with their parity, before
//    the step that makes the object larger. Until then the bytes belong to no object, so a crash
//    leaves the object as it was, and the next try writes them again.
// SPAN-3 The step has the object's first header and that of its last fragment, which gets longer.
//    Both checksums are made of bytes that were verified.
#pragma once

#include "heap/heap.hpp"
#include "pool/foreign.hpp"
#include "scute/scute.h"

namespace scute::core::heap {

// The blocks that these spans take, of both files (BLOCK-1 in pool/blocks.hpp). Throws
// SCUTE_E_NOSPC.
void reserve_foreign_spans(const pool::state& s, uint64_t size);
// In a pool in the making, whose zones have nothing but their descriptors (with the high-water
// marks of this size) and the anchor: chunk headers, headers of fragments of the `size` bytes of
// the user's file that the medium has joined, and then all parity. Durable at the lane's next
// fence.
void make_foreign_spans(pool::state& s, pool::lane& l, uint64_t size, scute_progress_fn progress,
                        void* arg);

// The user's file has `size` bytes instead of fewer, joined, zeros; its objects have these from now
// on. No thread writes to the last fragment meanwhile. Throws SCUTE_E_NOSPC, SCUTE_E_IO and the
// like: then a beginning of the file is covered that is no shorter than before.
void grow_foreign_spans(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t size);

// Bytes after the `size` covered ones, in chunks that are in use, become zeros: others are a
// scribble. Where the user's file comes to be its zeros take this place.
void clear_foreign_slack(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t size);

// Bytes of the user's file that the objects say are covered (FOREIGN-4). there: that the file has.
// Throws SCUTE_E_CORRUPT if they contradict each other.
uint64_t covered_by_spans(pool::state& s, heap& h, uint64_t there);

}  // namespace scute::core::heap
