// SPDX-License-Identifier: BSD-3-Clause
// Byte ranges of one object that a transaction has opened, disjoint and in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scute::tx {

struct byte_range {
  uint64_t begin, end;
};

class range_set {
 public:
  void clear() noexcept { ranges_.clear(); }
  bool empty() const noexcept { return ranges_.empty(); }
  auto begin() const noexcept { return ranges_.begin(); }
  auto end() const noexcept { return ranges_.end(); }

  bool contains(uint64_t begin, uint64_t end) const noexcept {
    const auto it = after(begin);
    return it != ranges_.begin() && std::prev(it)->begin <= begin && end <= std::prev(it)->end;
  }
  bool overlaps(uint64_t begin, uint64_t end) const noexcept {
    const auto it = after(begin);
    if (it != ranges_.begin() && std::prev(it)->end > begin) return true;
    return it != ranges_.end() && it->begin < end;
  }
  // Adds a range, calling fresh(begin, end) for each part of it that was not in the set.
  template <typename Fn>
  void add(uint64_t begin, uint64_t end, Fn&& fresh) {
    auto it = after(begin);
    if (it != ranges_.begin() && std::prev(it)->end >= begin) --it;
    uint64_t at = begin;
    uint64_t low = begin, high = end;
    auto last = it;
    for (; last != ranges_.end() && last->begin <= end; ++last) {
      if (at < last->begin) fresh(at, last->begin);
      at = std::max(at, last->end);
      low = std::min(low, last->begin);
      high = std::max(high, last->end);
    }
    if (at < end) fresh(at, end);
    if (it == last) {
      ranges_.insert(it, {low, high});
    } else {
      *it = {low, high};
      ranges_.erase(it + 1, last);
    }
  }

 private:
  std::vector<byte_range>::iterator after(uint64_t at) noexcept {
    return std::upper_bound(ranges_.begin(), ranges_.end(), at,
                            [](uint64_t v, const byte_range& r) { return v < r.begin; });
  }
  std::vector<byte_range>::const_iterator after(uint64_t at) const noexcept {
    return std::upper_bound(ranges_.begin(), ranges_.end(), at,
                            [](uint64_t v, const byte_range& r) { return v < r.begin; });
  }
  std::vector<byte_range> ranges_;
};

}  // namespace scute::tx
