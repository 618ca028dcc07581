// SPDX-License-Identifier: BSD-3-Clause
// A pool with known contents whose pages get lost.
#pragma once

#include <cstdint>
#include <vector>

#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {

class lossy_pool : public known_pool {
 public:
  using known_pool::known_pool;

  void lose(uint64_t offset) {
    const bytes noise = pattern(offset + 99, page);
    in().pages->lose(offset & ~(page - 1), reinterpret_cast<const std::byte*>(noise.data()));
  }
  uint64_t repaired_pages() const { return in().pages->repaired_pages.load(); }
  const pool::geometry& geo() const { return in().s.geo; }
  // Whether it can be read is all that matters, so threads that store there meanwhile do not.
  [[gnu::no_sanitize("thread")]] void touch(uint64_t offset) const {
    static_cast<void>(*reinterpret_cast<volatile char*>(raw(offset)));
  }
  void touch_all() const {
    for (uint64_t at = 0; at < geo().file_size; at += page) touch(at);
  }
  // The pages of the zone that hold something, parity included.
  std::vector<uint64_t> used_pages() {
    std::vector<uint64_t> pages;
    const auto& g = geo();
    for (uint64_t z = 0; z < g.zone_count; ++z) {
      for (uint64_t at = 0; at < in().s.used_end[z]; at += page)
        pages.push_back(g.zone_offset(z) + at);
      for (uint64_t at = 0; at < g.row_size; at += page)
        pages.push_back(g.zone_offset(z) + g.data_size + at);
    }
    return pages;
  }
};

}  // namespace scute::test
