// SPDX-License-Identifier: BSD-3-Clause
// The cache lines that a transaction has edited, so that its end writes each of them back once. A
// list is a transaction's own; the room for it is the thread's, which has one transaction at a
// time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace scute::workloads {

// How bytes get to the medium.
struct persistence {
  void (*flush)(const void* p, size_t n) noexcept;  // begins to write back every line of [p, p+n)
  void (*fence)() noexcept;
};

class edited_lines {
 public:
  edited_lines() : lines_(room()) { lines_.clear(); }
  edited_lines(const edited_lines&) = delete;
  edited_lines& operator=(const edited_lines&) = delete;

  template <class T>
  T* noted(T* first, uint64_t n) {
    const auto begin = reinterpret_cast<uintptr_t>(first), end = begin + n * sizeof(T);
    for (uintptr_t at = begin & ~(line - 1); at < end; at += line)
      if (lines_.empty() || lines_.back() != at) lines_.push_back(at);
    return first;
  }
  // Begins to write all of them back. False: there are none.
  bool flush(const persistence& how) {
    std::ranges::sort(lines_);
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    for (const uintptr_t at : lines_) how.flush(reinterpret_cast<const void*>(at), line);
    return !lines_.empty();
  }

 private:
  static constexpr uintptr_t line = 64;
  static std::vector<uintptr_t>& room() {
    thread_local std::vector<uintptr_t> lines;
    return lines;
  }
  std::vector<uintptr_t>& lines_;
};

}  // namespace scute::workloads
