// SPDX-License-Identifier: BSD-3-Clause
// Byte ranges of one object that a transaction has opened: disjoint, not touching, none of them
// empty, and in order. Most sets never have more than one range, which takes no memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scute::core::tx {

struct byte_range {
  uint64_t begin, end;
};

class range_set {
 public:
  void clear() noexcept {
    hull_ = {0, 0};
    all_.clear();
  }
  bool empty() const noexcept { return hull_.end == 0; }
  // For an empty set: makes it one range.
  void become(uint64_t begin, uint64_t end) noexcept { hull_ = {begin, end}; }
  const byte_range* begin() const noexcept { return all_.empty() ? &hull_ : all_.data(); }
  const byte_range* end() const noexcept {
    return all_.empty() ? &hull_ + (empty() ? 0 : 1) : all_.data() + all_.size();
  }

  bool contains(uint64_t begin, uint64_t end) const noexcept {
    if (begin < hull_.begin || end > hull_.end) return false;
    return all_.empty() || contains_of_all(begin, end);
  }
  bool overlaps(uint64_t begin, uint64_t end) const noexcept {
    if (begin >= hull_.end || end <= hull_.begin) return false;
    return all_.empty() || overlaps_of_all(begin, end);
  }
  // Adds a range, calling fresh(begin, end) for each part of it that was not in the set. If that
  // throws, the set is unchanged.
  template <typename Fn>
  void add(uint64_t begin, uint64_t end, Fn&& fresh) {
    if (empty()) {
      fresh(begin, end);
      hull_ = {begin, end};
      return;
    }
    if (!all_.empty()) return add_to_all(begin, end, fresh);
    if (begin >= hull_.begin && end <= hull_.end) return;
    if (begin > hull_.end || end < hull_.begin) {
      all_.reserve(2);
      fresh(begin, end);
      all_.push_back(hull_);
      all_.insert(begin < hull_.begin ? all_.begin() : all_.end(), {begin, end});
    } else {
      if (begin < hull_.begin) fresh(begin, hull_.begin);
      if (end > hull_.end) fresh(hull_.end, end);
    }
    widen(begin, end);
  }

 private:
  using ranges = std::vector<byte_range>;

  void widen(uint64_t begin, uint64_t end) noexcept {
    hull_ = {std::min(hull_.begin, begin), std::max(hull_.end, end)};
  }
  // The first range that begins after `at`.
  template <typename Ranges>
  static auto after(Ranges& all, uint64_t at) noexcept {
    return std::upper_bound(all.begin(), all.end(), at,
                            [](uint64_t v, const byte_range& r) { return v < r.begin; });
  }
  bool contains_of_all(uint64_t begin, uint64_t end) const noexcept {
    const auto it = after(all_, begin);
    return it != all_.begin() && std::prev(it)->begin <= begin && end <= std::prev(it)->end;
  }
  bool overlaps_of_all(uint64_t begin, uint64_t end) const noexcept {
    const auto it = after(all_, begin);
    if (it != all_.begin() && std::prev(it)->end > begin) return true;
    return it != all_.end() && it->begin < end;
  }
  template <typename Fn>
  void add_to_all(uint64_t begin, uint64_t end, Fn&& fresh) {
    auto it = after(all_, begin);
    if (it != all_.begin() && std::prev(it)->end >= begin) --it;
    uint64_t at = begin;
    uint64_t low = begin, high = end;
    auto last = it;
    for (; last != all_.end() && last->begin <= end; ++last) {
      if (at < last->begin) fresh(at, last->begin);
      at = std::max(at, last->end);
      low = std::min(low, last->begin);
      high = std::max(high, last->end);
    }
    if (at < end) fresh(at, end);
    if (it == last) {
      all_.insert(it, {low, high});
    } else {
      *it = {low, high};
      all_.erase(it + 1, last);
    }
    widen(begin, end);
  }

  byte_range hull_{0, 0};  // from the first range to the last; {0, 0}: there is none
  ranges all_;             // once there have been two; until then the hull is the set
};

}  // namespace scute::core::tx
