// SPDX-License-Identifier: BSD-3-Clause
// Places in a program's source, and what was counted at each. It lies in memory that the supervisor
// has as well, so that the counts outlive the program.
//
// AUDIT-1 A place is entered by one exchange, then its names, then the word that says that they are
//    there. Nothing is ever taken out, so whoever is killed or interrupted anywhere leaves a table
//    that can be read.
// AUDIT-2 Its reader does not trust it: the program's stray stores may have met it.
//
// Places are known by the address of what describes them. (A library that was unloaded, and another
// one at its addresses, would share theirs.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "scute/shield_hooks.h"

namespace scute::core::audit {

enum class site_event : uint8_t {
  flushed,        // lines
  flushed_again,  // lines that were flushed before and not fenced since
  unchanged,      // flushed lines that held what the file holds
  fenced,
  fenced_idle,    // with nothing pending
  never_flushed,  // lines that were stored to last from here
  strays,         // lines that changed without a word, and were flushed or loaded from here
  never_fenced    // lines that were flushed last from here
};
inline constexpr size_t site_events = 8;

struct site_record {
  std::string file,
      // "" if nothing is known; long names are cut: of the file the front, of the function the end
      function;
  uint32_t line = 0, column = 0;
  uint64_t counts[site_events] = {};
};

// The same without memory from the heap.
struct site_names {
  char file[104] = {}, function[64] = {};
  uint32_t line = 0;
};

class site_table {
 public:
  // Index 0 is for what comes from no known place, and for what finds the table full.
  static constexpr uint32_t places = 4096;
  static constexpr unsigned index_bits = 12;
  static size_t size() noexcept;

  site_table() = default;
  // size() bytes, zero at first, aligned to 64.
  explicit site_table(std::span<std::byte> at) noexcept;

  // Async-signal-safe.
  uint32_t index_of(const scute_shield_site* site) const noexcept;
  void count(uint32_t index, site_event what, uint64_t n = 1) const noexcept;

  // False: no thread has entered it.
  bool read(uint32_t index, site_record& to) const;
  // Async-signal-safe.
  bool read_names(uint32_t index, site_names& to) const noexcept;

 private:
  struct place {
    std::atomic<uint64_t> key;
    std::atomic<uint32_t> named;
    uint32_t line, column, unused;
    std::atomic<uint64_t> counts[site_events];
    char file[104], function[64];
  };
  place* all_ = nullptr;
};

}  // namespace scute::core::audit
