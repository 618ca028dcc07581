// SPDX-License-Identifier: BSD-3-Clause
// Rebuilding a damaged fragment from the rest of its columns (Pangolin 3.6, without freezing the
// pool: only the column blocks being read are held, one at a time).
//
// REPAIR-1 Decoded bytes are believed only if the fragment's checksum accepts them. Until then nothing is
//    written.
// REPAIR-2 A repair is idempotent: cut short, it leaves a fragment that still fails its checksum, and
//    columns that decode to the same bytes.
// REPAIR-3 Damage may hit parts of a fragment differently: one part of the fragment itself, and for another
//    one the parity or another row. So mixtures of kept and decoded bytes are tried, too.
// REPAIR-4 A repair never overwrites what a commit has written since it looked.
// REPAIR-5 A checksum of 32 bits accepts wrong bytes once in 2^32 attempts. So only such mixtures are tried
//    as damage makes likely, 7 for a fragment, and more only where the traces of a long scribble are
//    seen (heal/mixture.hpp has the probabilities). With P rows of parity there are several ways to decode
//    (heal/decodings.hpp), each of which multiplies that; and then a search for what no checksum vouches
//    for, which counts its own (heal/erasures.hpp).
#pragma once

#include <array>

#include "base/waiting.hpp"
#include "heal/erasures.hpp"
#include "pool/fragment.hpp"

namespace scute::heal {

// What is told of a damaged fragment. unused: known to be the header of a free slot or span.
pool::event event_of(const pool::state& s, const pool::fragment& f, scute_outcome outcome,
                     bool unused = false);

class column_repairer final : public pool::repairer {
 public:
  explicit column_repairer(pool::state& s) : s_(s) {}

  void repair(pool::lane* by, const pool::fragment& f, const char* what) override;

  // Repairs the descriptor of a zone, which says how far the zone's rows are in use, when nobody knows
  // that: whatever lies in rows that were never used takes no part in the parity. So it is decoded from
  // one row, from two, and so on, until its checksum accepts it; then s.used_end is set by it. Only while
  // a pool is being opened. (Found by the demo: noise in unused space, then the descriptor lost.)
  void repair_descriptor(uint64_t zone);

 private:
  [[noreturn]] void give_up(const pool::fragment& f, const char* what, const std::string& why);

  pool::state& s_;
  erasure_hints hints_;
  std::array<waiting_mutex, 16> busy_;  // by fragment; two repairs of one fragment take turns
};

}  // namespace scute::heal
