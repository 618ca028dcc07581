// SPDX-License-Identifier: BSD-3-Clause
// Time as commit sets count it, and which threads may be between the report of a store and the
// store.
//
// Instrumented code reports a store before it executes it, with no fence in between (HOOK-3 of
// scute/shield_hooks.h). So a line may change until the next fence of a thread that has reported a
// store to it, however many commit sets copy the line meanwhile.
//
// CLOCK-1 A thread marks itself as in flight before it reads the clock, and its fence removes the
//    mark before it commits anything. A commit set advances the clock before it copies a line, and
//    looks for marks after it.
// CLOCK-2 A thread in flight has been so since a clock reading that precedes everything it reports
//    until its next fence.
// CLOCK-3 A thread that ended in flight is not in flight.
//
// From CLOCK-1 follows: let a thread report a store to a line that a commit set has copied without
// it. Then the thread either read the clock after the commit set's number, or is seen in flight.
#pragma once

#include <cstdint>

namespace scute::core::audit {

class report_clock {
 public:
  static constexpr uint64_t begin = 2;

  // The calling thread is in flight from here on. Returns the clock. Async-signal-safe, like the
  // others.
  static uint64_t report() noexcept;
  static bool in_flight() noexcept;
  // Everything that the calling thread has reported has happened.
  static void fence() noexcept;

  // To be called in a child of fork(), which has none of its parent's threads.
  static void become_child() noexcept;

  // Begins a commit set and returns its number.
  static uint64_t next_commit_set() noexcept;
  // The moment at which lines that this commit set has copied count as copied: the commit set's
  // number, or a moment before everything that a thread in flight has reported.
  static uint64_t copied_at(uint64_t commit_set) noexcept;
};

}  // namespace scute::core::audit
