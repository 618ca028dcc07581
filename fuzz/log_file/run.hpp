// SPDX-License-Identifier: BSD-3-Clause
// Runs one input: next to a pool of engine spec lies its log, changed in some places, or another
// log, or none. The pool is opened in every way, verified, worked with, killed, and opened again.
// Returns, or ends the process.
//
// An input is a head of 4 bytes (image, log, two of the sessions' work) and changes of 8:
//   0 where:3 reseal:1 how:4   1 which   2..3 offset   4..7 value
#pragma once

#include <cstdint>
#include <span>

namespace scute::fuzz {

void run_log_file(std::span<const uint8_t> input);

// To see that it is noticed: an object is taken to have other bytes than it has.
inline bool planted_lie = false;

}  // namespace scute::fuzz
