// SPDX-License-Identifier: BSD-3-Clause
// The ways in which a damaged or torn fragment can be decoded from its columns
// (docs/internals/logfree.md, "Several parities"): which other cells count as unknown, and which
// parities are asked instead.
//
// DECODE-1 With one parity there is one way. With P of them up to P - 1 other cells of each column
//    may be unknown, and where fewer are, there is a choice of parities, of which some may be
//    damaged.
// DECODE-2 Unknown may be: nothing; all fragments that share columns with this one and fail their
//    checksum, and the places of parts behind a first header that fails it; all that carry one tag
//    of a transaction that a crash may have cut short, since the cells that it has open in a column
//    are all its own; or those and the former. What a checksum does not vouch for, and more damage
//    than one column can have, is left to a search (repair/erasure_search.hpp).
//    A fragment whose header and payload share columns, since its payload goes on in the next row,
//    is tried with both unknown as well. (Found by the explorer.)
// DECODE-3 No way is believed before the fragment's checksum accepts what it gives
//          (REPAIR-1, LF-4).
#pragma once

#include <functional>
#include <vector>

#include "pool/columns.hpp"
#include "pool/fragment.hpp"
#include "repair/erasure_search.hpp"

namespace scute::core::repair {

class erasure_decoder {
 public:
  using doubt = std::function<bool(uint64_t tag)>;
  using attempt = std::function<bool(const pool::decoding& how)>;

  // in_doubt: of which tags transactions may have columns open; null: of none.
  erasure_decoder(pool::state& s, const pool::fragment& f, doubt in_doubt = nullptr);

  // Calls fn for one way after the other until it returns true; false if it never did.
  bool any(const attempt& fn) const;

 private:
  using ranges = std::vector<pool::data_range>;

  void find_neighbours(const doubt& in_doubt);
  uint32_t depth(const ranges& unknown) const;
  bool with(const ranges& unknown, const attempt& fn) const;
  bool with_these(const ranges& unknown, const attempt& fn) const;

  pool::state& s_;
  ranges own_;      // of the fragment
  ranges damaged_;  // of others, in its columns
  struct open {
    uint64_t tag;
    ranges cells;
  };
  std::vector<open> open_;
};

// A way that was right says which cells of the fragment's blocks are damaged: a hint for what else
// lies there, since what is repaired no longer tells.
void note_damage(const pool::state& s, const pool::fragment& f, const pool::decoding& how,
                 pool::erasure_hints& hints);

}  // namespace scute::core::repair
