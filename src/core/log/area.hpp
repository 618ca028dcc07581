// SPDX-License-Identifier: BSD-3-Clause
// A region of log entries, in one copy or two, and how they are found again after a crash. No byte
// that is read is trusted.
//
// AREA-1 Reading an area takes time in proportion to its length, whatever it holds. Heads may lie
//    at all multiples of 64 bytes, and each may claim all that follows as its body; summing each
//    body would take quadratic time. So after more bytes than a regular area needs, sums come from
//    a table of prefixes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/log/entry.hpp"

namespace scute::core::log {

// The checksums of ranges of one copy (AREA-1).
class range_sums {
 public:
  // For [begin, end), both multiples of 64 from `base`.
  range_sums(const std::byte* base, uint64_t begin, uint64_t end)
      : base_(base), begin_(begin), end_(end) {}

  // from: anywhere after begin.
  uint32_t of(uint64_t from, uint64_t n);

 private:
  void build();
  uint32_t prefix(uint64_t to) const noexcept;

  const std::byte* base_;
  uint64_t begin_, end_;
  uint64_t summed_ = 0;
  std::vector<uint32_t> prefixes_;  // of [begin, begin + 64 i)
};

// A valid entry in place.
struct entry_view {
  format::log_entry head;
  const std::byte* body;
};

class area {
 public:
  // [begin, end) of each copy, whose byte 0 lies at base[0] and, if there are two, base[1].
  area(const std::byte* const (&base)[2], uint32_t copies, uint64_t begin, uint64_t end)
      : base_{base[0], base[1]},
        copies_(copies),
        begin_(begin),
        end_(end),
        sums_{{base[0], begin, end}, {base[1], begin, end}} {}

  // The entry at `position`, if a copy has a valid one.
  std::optional<entry_view> at(const identity& whose, uint64_t position);

  // Calls fn(entry) for each valid entry, live or not, in ascending order of where they lie.
  template <typename Fn>
  void for_each_entry(const identity& whose, Fn&& fn) {
    for (uint64_t position = begin_; position < end_; position += 64)
      if (const auto e = at(whose, position)) fn(*e);
  }

 private:
  const std::byte* base_[2];
  uint32_t copies_;
  uint64_t begin_, end_;
  range_sums sums_[2];
};

}  // namespace scute::core::log
