// SPDX-License-Identifier: BSD-3-Clause
// Where the columns of a fragment do not add up, in small parts, and what each of them would change
// in the fragment if the damage were the fragment's own.
//
// SYNRUN-1 A syndrome run is columns next to each other in one page, of the header or of the
//    payload, that are taken from one side as a whole. With one parity nothing in a column tells
//    which cell is wrong: the change is the syndrome, or none. The same damage is cut in three
//    ways: as clusters (less than 64 bytes from one odd byte to the next); as runs of odd bytes, of
//    which the short ones are cut into words of 8 bytes; and as bytes, of which one with one or two
//    odd bits is cut into bits, since flips of two rows may meet in it.
// SYNRUN-2 With several parities the syndromes of a column tell the wrong cell, if it is the only
//    one: what all of them say alike. What lies in another row is no syndrome run. Where no one
//    cell explains a column the fragment is sound there, or it is damaged along with one of the
//    cells that are known to be damaged, or a parity; with three parities or more, with any cell
//    that explains the column. So it is where a parity alone seems to be wrong: a lost page that
//    was rebuilt beside damage of another row has that in it, and the parity that it was rebuilt
//    with adds up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "repair/hybrid_decode.hpp"
#include "repair/syndromes.hpp"

namespace scute::core::repair {

struct syndrome_run {
  size_t at, length;  // in the image of header and payload, as units_of() lays them out
  // What XORed to it puts it right, the likeliest one first; each of `length` bytes, or empty for
  // none.
  std::vector<std::vector<std::byte>> changes;
};

struct syndrome_run_cuts {
  std::vector<std::vector<syndrome_run>>
      ways;               // few large syndrome runs first; none as the one before
  bool too_many = false;  // another way was left out for that
};
// damaged: rows whose fragments in these columns fail their checksums; most: the most syndrome runs
// of any use.
syndrome_run_cuts cut_into_syndrome_runs(const pool::state& s, const std::vector<unit>& units,
                                         syndromes& sums, std::span<const uint16_t> damaged,
                                         size_t most);

}  // namespace scute::core::repair
