// SPDX-License-Identifier: BSD-3-Clause
// Notes in the pool itself, for the next opening: which pages are lost, or half repaired.
//
// NOTE-1 A page of the data rows or the parity is noted, durably, before the first byte of its
//    repair is written. The note is removed, durably, after the last. So a repair that was cut
//    short is known and done again; without payload checksums nothing else would show it.
// NOTE-2 A line of notes is written to one copy and fenced before the other copies are. So of its
//    three copies one is whole at any moment, and the one with the highest sequence counts.
// NOTE-3 Everything here is async-signal-safe and takes no lock except its own. Writing a note may
//    fault, since a superblock page may be lost itself; that page's repair needs neither a note nor
//    this lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/locks/spin_lock.hpp"
#include "core/shared/state.hpp"

namespace scute::core::repair {

class page_notes {
 public:
  explicit page_notes(pool::state& s) : s_(s) {}

  // Reads the notes of earlier sessions. Not while another thread uses the pool.
  void load() noexcept SCUTE_NO_LOCK_ANALYSIS;
  // The pages noted now, ascending.
  std::vector<uint64_t> pages() const;

  // False if there is no room for another page; the caller then continues without.
  bool add(medium::writer& w, uint64_t page) noexcept;
  void remove(medium::writer& w, uint64_t page) noexcept;

 private:
  bool replace(medium::writer& w, uint64_t from, uint64_t to) noexcept;
  void write(medium::writer& w, uint32_t line) noexcept SCUTE_REQUIRES(lock_);

  pool::state& s_;
  static constexpr size_t pages_max =
      format::page_note_count * std::size(format::page_note{}.pages);
  mutable spin_lock lock_;
  format::page_note lines_[format::page_note_count] SCUTE_GUARDED_BY(lock_){};
};

uint32_t note_checksum(uint64_t salt, const format::page_note& n) noexcept;

}  // namespace scute::core::repair
