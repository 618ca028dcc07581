// SPDX-License-Identifier: BSD-3-Clause
// The layout of an audit's memory (store_audit.hpp): a head, findings, places, two words for each
// line, and what lines held when they were flushed. Only for this folder.
#pragma once

#include "shield/audit/store_audit.hpp"

namespace scute::core::audit {

struct store_audit::head {
  static constexpr uint64_t mark_value = 0x3274696475616373;  // "scaudit2"
  std::atomic<uint64_t> mark;
  uint64_t lines;
  std::atomic<uint32_t> strays_do;  // on_stray
  uint32_t remembers;               // nonzero: keeps what lines held when they were flushed
  std::atomic<uint64_t> strays, findings;
  char unreported[2048];
};

struct store_audit::finding {
  std::atomic<uint32_t> kind;  // last
  uint32_t stored_at, flushed_at, unused;
  uint64_t line;
};

// The two words of a line. Each has a moment, and the index of a site in its low bits.
struct store_audit::words {
  std::atomic<uint64_t> reported;  // of the last store, and the site that reported it
  // of the last commit set, and the site that has flushed the line since; with found_mark if a load
  // has found it changed since
  std::atomic<uint64_t> copied;
};

inline constexpr uint64_t found_mark = uint64_t{1} << 63;

inline constexpr uint64_t site_mask = (uint64_t{1} << site_table::index_bits) - 1;

constexpr uint64_t moment_of(uint64_t word) {
  return (word & ~found_mark) >> site_table::index_bits;
}
constexpr uint32_t site_of(uint64_t word) {
  return static_cast<uint32_t>(word & site_mask);
}
constexpr uint64_t word_of(uint64_t moment, uint32_t site) {
  return moment << site_table::index_bits | site;
}

}  // namespace scute::core::audit
