// SPDX-License-Identifier: BSD-3-Clause
// Rebuilds a damaged fragment from the rest of its columns (Pangolin 3.6, without freezing the
// pool: only the column blocks being read are held, one at a time).
//
// REPAIR-1 Decoded bytes are believed only if the fragment's checksum accepts them. Until then
//    nothing is written.
// REPAIR-2 A repair is idempotent: cut short, it leaves a fragment that still fails its checksum,
//    and columns that decode to the same bytes.
// REPAIR-3 Damage may hit parts of a fragment differently: one part of the fragment itself, and for
//    another part the parity or another row. So mixtures of kept and decoded bytes are tried, too.
// REPAIR-4 A repair never overwrites bytes that a commit has written since the repair read them.
// REPAIR-5 A checksum of 32 bits accepts wrong bytes once in 2^32 attempts. So only mixtures that
//    damage makes likely are tried, 7 for a fragment and each way to decode it, and more only if
//    there are traces of a long scribble.
// REPAIR-6 Nothing is given up while a commit may be in the middle of it: a fragment that cannot be
//    decoded is lost only if it has the very same bytes when every commit that was decided before
//    is in place.
// REPAIR-7 A caller that tries again when other fragments have been repaired (SUSPECT-2 of
//    core/scrub/suspect_repair.hpp) reports a loss at the end, and once.
//
// On REPAIR-5: core/repair/erasure/hybrid_decode.hpp has the probabilities. With P rows of parity
// there are several ways to decode (core/repair/erasure/erasure_decoder.hpp). After the mixtures,
// small injuries are distinguished one by one (core/repair/erasure/bitflip_search.hpp), and damaged
// bytes that no checksum vouches for are searched for (core/repair/erasure/erasure_search.hpp).
// Both count their own attempts.
// On REPAIR-6, found by a campaign: a scrub reported an object as lost while a thread that was off
// the CPU was writing it. On REPAIR-7, found by the demo: a loss was reported and counted whose
// object was whole a moment later.
#pragma once

#include <cstring>

#include "core/shared/fragment.hpp"
#include "core/shared/state.hpp"

namespace scute::core::repair {

// The event for a damaged fragment. unused: known to be the header of a free slot or span.
pool::event event_of(const pool::state& s, const pool::fragment& f, scute_outcome outcome,
                     bool unused = false);

// Whether a failed repair also reports the loss, or leaves that to the caller. It throws in either
// case.
enum class on_loss : uint8_t { report, leave };
// Posts the event of a loss, and counts it. by: the caller's lane, or null.
void report_lost(pool::state& s, pool::lane* by, const pool::fragment& f);

// Repairs a fragment from its columns if it is damaged. what: its name in errors. On return its
// bytes in the pool are valid, or were changed by a commit that came first (REPAIR-4): a caller
// that needs them valid tests them again. Throws failure(SCUTE_E_CORRUPT), which names what was
// lost. Any thread without stripes. by: the caller's lane, or null.
void repair_fragment(pool::state& s, pool::lane* by, const pool::fragment& f, const char* what,
                     on_loss then = on_loss::report);

// Repairs the descriptor of a zone, which says how many of the zone's rows are in use. While it is
// lost that is unknown, and rows that were never used take no part in the parity. So it is decoded
// from one row, from two, and so on, until its checksum accepts it; then it sets s.used_end. Only
// while a pool is being opened. (Found by the demo: noise in unused space, then the descriptor
// lost.)
void repair_descriptor(pool::state& s, uint64_t zone);

// Returns a validated copy of a metadata object, repairing it first if it is damaged.
template <typename Metadata>
Metadata read_metadata(pool::state& s, pool::lane* l, uint64_t offset, uint32_t type,
                       const char* what) {
  const pool::fragment f = pool::metadata_fragment(offset, type);
  if (!pool::valid(s, f)) repair_fragment(s, l, f, what);
  Metadata m;
  std::memcpy(&m, s.at(offset), sizeof m);
  return m;
}

}  // namespace scute::core::repair
