// SPDX-License-Identifier: BSD-3-Clause
// The lines that a thread has flushed, in order: a ring in the shared region. The thread that makes
// a commit set reads it.
//
// FLUSH-1 An entry is one word of line and position: a killed process leaves it present or absent.
//    A compare-exchange puts it. That fails if the place has changed meanwhile, by an interrupting
//    handler or a thread that shares the list; the next place is then tried. So entries have no
//    gaps, and none is overwritten before it was taken.
// FLUSH-2 A thread that takes entries writes only to taken(), and not to the ring.
//
// The compare-exchange of FLUSH-1 replaces the entry of the previous ring, or nothing. A thread
// that finds anything else in the place has read taken() too long ago.
//
// The position in an entry has 30 bits. To be mistaken, a thread would have to be overtaken by 2^30
// entries between two of its instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace scute::core::view {

class flush_list {
 public:
  static constexpr unsigned line_bits = 34;

  // The earliest position of the next entry. Exact if no thread puts one at the same time.
  uint64_t end(uint32_t entries) noexcept {
    uint64_t p = end_hint_.load(std::memory_order_relaxed);
    // If the hint is a whole ring too old, the place has another entry.
    if (const uint64_t t = taken_.load(std::memory_order_acquire); p < t) p = t;
    while (is_at(ring()[p & (entries - 1)].load(std::memory_order_acquire), p)) ++p;
    return p;
  }
  // The line at a position, if there is one.
  bool at(uint64_t p, uint32_t entries, uint64_t& line) noexcept {
    const uint64_t word = ring()[p & (entries - 1)].load(std::memory_order_acquire);
    line = word & ((uint64_t{1} << line_bits) - 1);
    return is_at(word, p);
  }
  // Returns false if there is no room. Otherwise `position` is the entry's.
  bool put(uint64_t line, uint32_t entries, uint64_t& position) noexcept;

  // A commit set has taken all entries before taken(); decided commit sets hold all before
  // decided().
  std::atomic<uint64_t>& taken() noexcept { return taken_; }
  std::atomic<uint64_t>& decided() noexcept { return decided_; }
  // Entries before this position precede a fence that was deferred; noted if there is a watch
  // (AUDIT-6).
  std::atomic<uint64_t>& fenced() noexcept { return fenced_; }

 private:
  static uint64_t word_of(uint64_t line, uint64_t p) noexcept {
    return (p + 1) << line_bits | line;
  }
  static bool is_at(uint64_t word, uint64_t p) noexcept {
    return word >> line_bits == ((p + 1) & ((uint64_t{1} << (64 - line_bits)) - 1));
  }
  std::atomic<uint64_t>* ring() noexcept {
    return reinterpret_cast<std::atomic<uint64_t>*>(this + 1);
  }

  alignas(64) std::atomic<uint64_t> end_hint_;  // never more than the end; may be far less
  alignas(64) std::atomic<uint64_t> taken_;
  std::atomic<uint64_t> decided_;
  std::atomic<uint64_t> fenced_;
};
static_assert(sizeof(flush_list) == 128);

}  // namespace scute::core::view
