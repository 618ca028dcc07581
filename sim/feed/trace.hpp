// SPDX-License-Identifier: BSD-3-Clause
// A program as text, for tests: what a front end would hand over, a line each.
//
//   i KIND CYCLES FROM FROM FROM FROM ADDRESS ADDRESS TO TO
//                                             an instruction; KIND by its number, registers by
//                                             theirs
//   r ADDRESS BYTES l|s                       a reference of the instruction above: load, store
//   b ADDRESS EXIT END NEXT                   a block begins; the last instruction of the previous
//                                             block was at END, the one after it at NEXT, and EXIT
//                                             is how that block ended, by its number
//   m WHAT A B                                a mark (guest/marks.hpp)
//
// Numbers are decimal, addresses and A and B hexadecimal; # begins a comment.
#pragma once

#include <istream>

#include "feed/run.hpp"

namespace scute::sim {

// Throws std::runtime_error with the line's number.
void replay(std::istream& in, run& to);

}  // namespace scute::sim
