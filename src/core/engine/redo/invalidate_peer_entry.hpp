// SPDX-License-Identifier: BSD-3-Clause
// Lanes of engine redo that write under the same stripes, one after the other. Determines which log
// entries a new one must follow, and which must be durably invalid first
// (core/engine/redo/redo.hpp, REDO-5 and REDO-6).
#pragma once

#include "core/shared/state.hpp"

namespace scute::core::engine {

// Raises l.sequence to that of the last entry of any other lane that may have written the bytes
// that l.pieces are about to write. So the lane's next entry comes after it (REDO-6).
void follow(const pool::state& s, pool::lane& l) noexcept;

// Makes the log entries of other lanes that wrote the same blocks before durably invalid (REDO-5).
// It starts the write-back of those lanes' status lines, and the lane's next fence completes it.
// After that fence peers_invalidated() must be called. Needs no memory after
// prepare_invalidation(), which reserves for l.pieces.
void prepare_invalidation(const pool::state& s, pool::lane& l);
void invalidate_peers(pool::state& s, pool::lane& l) noexcept;
void peers_invalidated(pool::lane& l) noexcept;

// The same for every other lane at once, with a fence. Needed before a chunk gets a new use, when
// an old log entry could write any byte of it.
void invalidate_all_peers(pool::state& s, pool::lane& l);

// The owner to leave in a stripe that l has just written under.
pool::stripe_owner next_owner(const pool::state& s, const pool::lane& l, uint32_t stripe,
                              pool::stripe_owner old) noexcept;

}  // namespace scute::core::engine
