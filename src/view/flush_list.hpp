// SPDX-License-Identifier: BSD-3-Clause
// Which lines a thread has flushed, in order: a ring in the shared region, read by whoever makes a
// commit set.
//
// FLUSH-1 An entry is one word, of line and position, so it is there or not, wherever a process is
//    killed. It is put by an exchange that fails if the place was changed meanwhile, which a
//    handler does that interrupts the thread, or a thread that shares the list: then the next place
//    is tried. So entries have no gaps, and none is overwritten before it was taken: what is
//    exchanged is the entry of a ring before, or nothing, and whoever finds anything else there has
//    looked at taken() too long ago.
// FLUSH-2 Who takes entries writes to taken() only; it does not touch the ring.
//
// The position in an entry has 30 bits: it would have to be overtaken by 2^30 entries between two
// instructions of a thread to be mistaken.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/planted.hpp"

namespace scute::core::view {

class flush_list {
 public:
  static constexpr unsigned line_bits = 34;

  // Where the next entry goes, at least. Exact when nobody puts one.
  uint64_t end(uint32_t entries) noexcept {
    uint64_t p = end_hint_.load(std::memory_order_relaxed);
    // A whole ring behind, the place has another entry.
    if (const uint64_t t = taken_.load(std::memory_order_acquire);
        p < t && !SCUTE_PLANTED(view_hint_old))
      p = t;
    while (is_at(ring()[p & (entries - 1)].load(std::memory_order_acquire), p)) ++p;
    return p;
  }
  // The line at a position, if there is one.
  bool at(uint64_t p, uint32_t entries, uint64_t& line) noexcept {
    const uint64_t word = ring()[p & (entries - 1)].load(std::memory_order_acquire);
    line = word & ((uint64_t{1} << line_bits) - 1);
    return is_at(word, p);
  }
  // False if there is no room. Else `position` is where it went.
  bool put(uint64_t line, uint32_t entries, uint64_t& position) noexcept;

  // All entries before have been taken by a commit set; are in a decided one.
  std::atomic<uint64_t>& taken() noexcept { return taken_; }
  std::atomic<uint64_t>& decided() noexcept { return decided_; }
  // Are from before a fence that was put off; noted where there is a watch (AUDIT-6).
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

  alignas(64) std::atomic<uint64_t> end_hint_;  // never more than the end; may be far behind it
  alignas(64) std::atomic<uint64_t> taken_;
  std::atomic<uint64_t> decided_;
  std::atomic<uint64_t> fenced_;
};
static_assert(sizeof(flush_list) == 128);

}  // namespace scute::core::view
