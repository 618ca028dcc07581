// SPDX-License-Identifier: BSD-3-Clause
// Lanes of engine redo that write under the same stripes, one after the other: whose log entries a
// new one must follow, and which must be durably invalid first (engine/redo/redo.hpp, REDO-5
// and REDO-6).
#pragma once

#include "pool/state.hpp"

namespace scute::core::engine {

// Raises l.sequence to that of the last entry of any other lane that may have written what l.pieces
// are about to write, so that the lane's next entry comes after it (REDO-6).
void follow(const pool::state& s, pool::lane& l) noexcept;

// Makes the log entries of other lanes that wrote the same blocks before durably invalid: starts
// the write-back of those lanes' status lines; the lane's next fence completes it, after which
// peers_invalidated() must be called (REDO-5).
// Needs no memory after prepare_invalidation(), which takes l.pieces into account.
void prepare_invalidation(const pool::state& s, pool::lane& l);
void invalidate_peers(pool::state& s, pool::lane& l) noexcept;
void peers_invalidated(pool::lane& l) noexcept;

// The same for every other lane, at once, with a fence: before a chunk gets a new use, when an old
// log entry could reach any byte of it.
void invalidate_all_peers(pool::state& s, pool::lane& l);

// The owner to leave in a stripe that l has just written under.
pool::stripe_owner next_owner(const pool::state& s, const pool::lane& l, uint32_t stripe,
                              pool::stripe_owner old) noexcept;

}  // namespace scute::core::engine
