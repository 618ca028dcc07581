// SPDX-License-Identifier: BSD-3-Clause
// All memory beyond the caches: DRAM, and the ranges of addresses that are persistent.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "machine/dram.hpp"
#include "machine/persistent_memory.hpp"
#include "machine/settings.hpp"
#include "machine/ticks.hpp"

namespace scute::sim {

// Addresses of the machine's own data, where no program has anything.
inline constexpr uint64_t log_base = uint64_t{0x7a00} << 32;  // logs of schemes, persistent
inline constexpr uint64_t log_end = uint64_t{0x7b00} << 32;
inline constexpr uint64_t tables_base = uint64_t{0x7c00} << 32;  // page tables, in DRAM

class memory {
 public:
  explicit memory(const settings& s) : ram(s), pm(s) {}

  // Whole lines.
  void add_persistent(uint64_t address, uint64_t bytes) {
    ranges_.push_back({line_of(address), line_of(address + bytes + line_bytes - 1)});
    whole_pages_ = whole_pages_ && address % page_bytes == 0 && bytes % page_bytes == 0;
    ++changes_;
  }
  // How often what is persistent has changed, and whether it is whole pages of 4 KiB.
  unsigned changes() const noexcept { return changes_; }
  bool has_whole_pages() const noexcept { return whole_pages_; }
  bool is_persistent(uint64_t line) const noexcept {
    for (const range& r : ranges_)
      if (line - r.first < r.end - r.first) return true;
    return line - line_of(log_base) < line_of(log_end) - line_of(log_base);
  }

  ticks read(uint64_t line, ticks at) {
    return is_persistent(line) ? pm.read(line, at) : ram.read(line, at);
  }
  // When the line is durable; for DRAM, at once.
  ticks write(uint64_t line, ticks at) {
    if (!is_persistent(line)) {
      ram.write(line, at);
      return at;
    }
    const ticks accepted = pm.write(line, at);
    if (on_durable) on_durable(line, accepted);
    return accepted;
  }

  // Called for each line of the program that is sent to persistent memory, with the time when it
  // will be durable. Not for lines of jobs: the caller that begins a job knows of them.
  std::function<void(uint64_t line, ticks accepted)> on_durable;

  dram ram;
  persistent_memory pm;

 private:
  struct range {
    uint64_t first, end;
  };
  std::vector<range> ranges_;
  bool whole_pages_ = true;
  unsigned changes_ = 0;
};

}  // namespace scute::sim
