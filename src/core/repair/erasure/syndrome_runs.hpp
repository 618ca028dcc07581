// SPDX-License-Identifier: BSD-3-Clause
// Where the columns of a fragment do not add up, in small parts, and what each part would change in
// the fragment if the damage were the fragment's own.
//
// SYNRUN-1 A syndrome run is adjacent columns in one page, of the header or of the payload, that
//    are taken from one side as a whole. With one parity nothing in a column says which cell is
//    wrong: the change is the syndrome, or none. The same damage is cut in three ways: as clusters,
//    as runs of odd bytes, and as bytes.
// SYNRUN-2 With several parities the syndromes of a column identify the wrong cell, if it is the
//    only one: all of them must agree on it. Damage in another row is no syndrome run. If no single
//    cell explains a column, the fragment is sound there, or it is damaged together with another
//    cell (below).
//
// On SYNRUN-1: a cluster has less than 64 bytes from one odd byte to the next. Short runs are cut
// into words of 8 bytes. A byte with one or two odd bits is cut into bits, since flips of two rows
// may meet in it.
//
// On SYNRUN-2: the other cell is one of those that are known to be damaged, or a parity; with three
// parities or more, any cell that explains the column. The same holds where only a parity seems to
// be wrong: a lost page that was rebuilt while another row was damaged contains that damage, and
// the parity that it was rebuilt with adds up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/repair/erasure/hybrid_decode.hpp"
#include "core/repair/erasure/syndromes.hpp"

namespace scute::core::repair {

struct syndrome_run {
  size_t at, length;  // in the image of header and payload, as units_of() lays them out
  // The changes that may be XORed to it, the likeliest first. Each has `length` bytes, or is empty
  // for none.
  std::vector<std::vector<std::byte>> changes;
};

struct syndrome_run_cuts {
  std::vector<std::vector<syndrome_run>> ways;  // few large syndrome runs first; all are different
  bool too_many = false;                        // another way was left out because of that
};
// damaged: rows whose fragments in these columns fail their checksums. most: the largest number of
// syndrome runs that is of any use.
syndrome_run_cuts cut_into_syndrome_runs(const pool::state& s, const std::vector<unit>& units,
                                         syndromes& sums, std::span<const uint16_t> damaged,
                                         size_t most);

}  // namespace scute::core::repair
