// SPDX-License-Identifier: BSD-3-Clause
// Time as commit sets count it, and which threads may be between the report of a store and the
// store.
//
// Instrumented code reports a store before it is executed, and no fence in between (HOOK-3 of
// scute/shield_hooks.h). So a line may change until the next fence of a thread that has reported
// it, however many commit sets have copied the line meanwhile.
//
// CLOCK-1 A thread marks itself as in flight before it reads the clock, and its fence takes the
//    mark off before it commits anything. A commit set moves the clock before it copies a line, and
//    looks for marks after it. So a thread that has reported a store to a line that a commit set
//    has copied without it either read the clock after the commit set's number, or is seen in
//    flight.
// CLOCK-2 A thread in flight is so since a reading of the clock before everything that it reports
//         until its next fence.
// CLOCK-3 A thread that ended in flight is not in flight.
#pragma once

#include <cstdint>

namespace scute::core::audit {

class report_clock {
 public:
  static constexpr uint64_t begin = 2;

  // The calling thread is in flight from here on. What it is told is the clock. Async-signal-safe,
  // as the others are.
  static uint64_t report() noexcept;
  static bool in_flight() noexcept;
  // All that the calling thread has reported has happened.
  static void fence() noexcept;

  // A child of fork() has one thread, and none of its parent's.
  static void become_child() noexcept;

  // The number of a commit set that begins.
  static uint64_t next_commit_set() noexcept;
  // What a line that this commit set has copied may be taken for having been copied at: the commit
  // set's number, or a moment before everything that a thread in flight has told of.
  static uint64_t copied_at(uint64_t commit_set) noexcept;
};

}  // namespace scute::core::audit
