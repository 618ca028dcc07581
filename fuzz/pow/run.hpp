// SPDX-License-Identifier: BSD-3-Clause
// Runs one input: a file as it was left, changed in some places, is opened in every way, worked
// with, and opened again. Returns, or ends the process.
//
// An input is a head of 4 bytes (image, flags, two of the sessions' work) and changes of 8:
//   0 where:3 reseal:1 how:4   1 which   2..3 offset   4..7 value
#pragma once

#include <cstdint>
#include <span>

namespace scute::fuzz {

void run_store(std::span<const uint8_t> input);

// Tests that the verification notices it: an object changes in memory without the library's
// knowledge.
inline bool planted_lie = false;

}  // namespace scute::fuzz
