// SPDX-License-Identifier: BSD-3-Clause
// The columns that a recovery has written in. Their parity is recomputed.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {

// Touched ranges, merged, and the columns they lie in. Each column is recomputed once, however
// often the logs name it.
class touched_columns {
 public:
  explicit touched_columns(const pool::geometry& g) : g_(g) {}

  void add(uint64_t offset, uint64_t length) { ranges_.push_back({offset, length}); }

  std::span<const pool::data_range> ranges() {
    merge(ranges_);
    return ranges_;
  }

  // Calls fn(offset in row 0, length) for disjoint spans.
  template <typename Fn>
  void for_each(Fn&& fn) {
    std::vector<pool::data_range> spans;
    for (auto [offset, length] : ranges()) {
      while (length != 0) {
        const pool::cell c = pool::cell_of(g_, offset);
        const uint64_t n = std::min(length, g_.row_size - c.column);
        spans.push_back({g_.zone_offset(c.zone) + c.column, n});
        offset += n;
        length -= n;
      }
    }
    // Spans of different zones cannot touch: a zone's row 0 is followed by its row 1.
    merge(spans);
    for (const pool::data_range& r : spans) fn(r.offset, r.length);
  }

 private:
  // Sorts ranges and joins those that touch.
  static void merge(std::vector<pool::data_range>& all) {
    std::sort(all.begin(), all.end(), [](const pool::data_range& a, const pool::data_range& b) {
      return a.offset < b.offset;
    });
    size_t kept = 0;
    for (const pool::data_range& r : all) {
      if (kept != 0 && r.offset <= all[kept - 1].offset + all[kept - 1].length) {
        pool::data_range& last = all[kept - 1];
        last.length = std::max(last.offset + last.length, r.offset + r.length) - last.offset;
      } else {
        all[kept++] = r;
      }
    }
    all.resize(kept);
  }

  const pool::geometry& g_;
  std::vector<pool::data_range> ranges_;
};

}  // namespace scute::core::engine
