// SPDX-License-Identifier: BSD-3-Clause
// Places in a program's source, and the counts of each. The table is in memory that the supervisor
// shares, so that the counts outlive the program.
//
// AUDIT-1 A place is entered by one exchange; then come its names, then the word that says they are
//    present. No entry is ever removed. So a thread that is killed or interrupted anywhere leaves a
//    readable table.
// AUDIT-2 Its reader does not trust it: stray stores of the program may have damaged it.
//
// Places are identified by the address of their descriptor. (If a library is unloaded and another
// one gets its addresses, the two share places.)
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
  unchanged,      // flushed lines that equalled the file
  fenced,
  fenced_idle,    // with nothing pending
  never_flushed,  // lines last stored to from here
  strays,         // lines that changed without a report, flushed or loaded from here
  never_fenced    // lines last flushed from here
};
inline constexpr size_t site_events = 8;

struct site_record {
  std::string file,
      // "" if unknown. Long names are cut: a file's at the front, a function's at the end.
      function;
  uint32_t line = 0, column = 0;
  uint64_t counts[site_events] = {};
};

// The same without heap memory.
struct site_names {
  char file[104] = {}, function[64] = {};
  uint32_t line = 0;
};

class site_table {
 public:
  // Index 0 is for events from unknown places, and for those that find the table full.
  static constexpr uint32_t places = 4096;
  static constexpr unsigned index_bits = 12;
  static size_t size() noexcept;

  site_table() = default;
  // size() bytes, zero at first, aligned to 64.
  explicit site_table(std::span<std::byte> at) noexcept;

  // Async-signal-safe.
  uint32_t index_of(const scute_shield_site* site) const noexcept;
  void count(uint32_t index, site_event what, uint64_t n = 1) const noexcept;

  // Returns false if no thread has entered this place.
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
