// SPDX-License-Identifier: BSD-3-Clause
// Runs one input: a shielded file and what protects it, changed in some places, go through every
// call that takes them. Returns, or ends the process.
//
// An input is a head of 4 bytes and changes of 8:
//   head    0 image   1 flags (run_flags)   2 which of adopt and remove   3 nothing
//   change  0 where:3 reseal:1 how:4   1 which   2..3 offset   4..7 value
#pragma once

#include <cstdint>
#include <span>

namespace scute::fuzz {

enum run_flags : uint8_t {
  as_damage = 1,         // SCUTE_DAMAGED
  with_repair = 2,       // the check repairs
  with_scrub = 4,        // a scrub comes before it
  unnoticed = 8,         // the superblock is made to agree with the file's inode and times
  without_opening = 16,  // adopt or remove at once
};

void run_shielded(std::span<const uint8_t> input);

// Tests that the verification notices it: a byte that was read changes without the library's
// knowledge.
inline bool planted_lie = false;

}  // namespace scute::fuzz
