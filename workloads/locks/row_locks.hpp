// SPDX-License-Identifier: BSD-3-Clause
// Locks for the rows of a table, in DRAM: a row's number names its lock, and rows share them where
// there are more rows than locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

namespace scute::workloads {

class row_locks {
 public:
  explicit row_locks(size_t locks) : locks_(locks) {}

  std::shared_mutex& of(uint64_t row) noexcept { return locks_[row % locks_.size()].mutex; }

 private:
  // Two lines each: the adjacent-line prefetcher moves pairs.
  struct alignas(128) padded {
    std::shared_mutex mutex;
  };
  std::vector<padded> locks_;
};

}  // namespace scute::workloads
