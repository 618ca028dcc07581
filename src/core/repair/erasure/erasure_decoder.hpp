// SPDX-License-Identifier: BSD-3-Clause
// The ways in which a damaged or torn fragment can be decoded from its columns
// (docs/internals/logfree.md, "Several parities"): which other cells count as unknown, and which
// parities are used instead.
//
// DECODE-1 With one parity there is one way. With P of them up to P - 1 other cells of each column
//    may be unknown. If fewer are, there is a choice of parities, some of which may be damaged.
// DECODE-2 The unknown cells are one of these sets: none; all fragments that share columns with
//    this one and fail their checksum, with the places of parts after a first header that fails it;
//    all that carry one tag of a transaction that a crash may have cut short; or the latter two
//    together.
// DECODE-3 No way is believed before the fragment's checksum accepts its result (REPAIR-1, LF-4).
//
// On DECODE-2: all cells that a transaction has open in a column are its own. Bytes that no
// checksum vouches for, and more damage than one column can have, are left to a search
// (core/repair/erasure/erasure_search.hpp). If a fragment's header and payload share columns, since
// its payload continues in the next row, both are also tried as unknown. (Found by the explorer.)
#pragma once

#include <functional>
#include <vector>

#include "core/repair/erasure/erasure_search.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::repair {

class erasure_decoder {
 public:
  using doubt = std::function<bool(uint64_t tag)>;
  using attempt = std::function<bool(const pool::decoding& how)>;

  // in_doubt: the tags whose transactions may have columns open; null: none.
  erasure_decoder(pool::state& s, const pool::fragment& f, doubt in_doubt = nullptr);

  // Calls fn for one way after the other until it returns true. Returns false if it never did.
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

// A way that was right says which cells of the fragment's blocks are damaged. That is a hint for
// other damage there, since repaired cells no longer show it.
void note_damage(const pool::state& s, const pool::fragment& f, const pool::decoding& how,
                 pool::erasure_hints& hints);

}  // namespace scute::core::repair
