// SPDX-License-Identifier: BSD-3-Clause
// Memory handed out from one stretch of bytes, in sizes of whole 32 bytes, with a list of free
// pieces for each size. It keeps its state in DRAM: nothing of it survives the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <span>
#include <vector>

namespace scute::workloads {

class arena {
 public:
  // The bytes stay the caller's, and are aligned to 32.
  explicit arena(std::span<std::byte> bytes) : bytes_(bytes) {}

  // Throws std::bad_alloc.
  void* take(size_t size) {
    const size_t units = units_of(size);
    const std::lock_guard hold(mutex_);
    if (units < free_.size() && !free_[units].empty()) {
      void* const at = free_[units].back();
      free_[units].pop_back();
      return at;
    }
    if ((bytes_.size() - used_) / unit < units) throw std::bad_alloc();
    void* const at = bytes_.data() + used_;
    used_ += units * unit;
    return at;
  }
  void give_back(void* at, size_t size) {
    const size_t units = units_of(size);
    const std::lock_guard hold(mutex_);
    if (units >= free_.size()) free_.resize(units + 1);
    free_[units].push_back(at);
  }

 private:
  static constexpr size_t unit = 32;

  static size_t units_of(size_t size) noexcept { return (size + unit - 1) / unit; }

  std::span<std::byte> bytes_;
  size_t used_ = 0;
  std::mutex mutex_;
  std::vector<std::vector<void*>> free_;  // by units
};

}  // namespace scute::workloads
