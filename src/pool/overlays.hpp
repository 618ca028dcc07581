// SPDX-License-Identifier: BSD-3-Clause
// Ranges whose parity encodes other bytes than the medium holds: chunks lent to a log (parity sees
// zeros) and in-place ranges of open transactions (parity sees the old bytes, which are in DRAM).
// Whoever decodes a column reads these cells through the overlay. Consulted by repair and checking
// only, never by a commit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

namespace scute::pool {

class overlays {
 public:
  // bytes null: zeros. The bytes stay valid until remove(). Ranges never overlap.
  void add(uint64_t offset, uint64_t length, const std::byte* bytes) {
    const std::lock_guard hold(mutex_);
    ranges_.emplace(offset, range{length, bytes});
    any_.store(true, std::memory_order_release);
  }
  void remove(uint64_t offset) noexcept {
    const std::lock_guard hold(mutex_);
    ranges_.erase(offset);
    any_.store(!ranges_.empty(), std::memory_order_release);
  }
  bool touches(uint64_t offset, uint64_t length) const noexcept {
    if (!any_.load(std::memory_order_acquire)) return false;
    const std::lock_guard hold(mutex_);
    return first_in(offset, length) != ranges_.end();
  }
  // Replaces in buffer, which holds the medium's bytes of [offset, offset+length), those that are
  // overlaid.
  void patch(uint64_t offset, std::byte* buffer, uint64_t length) const noexcept {
    const std::lock_guard hold(mutex_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->first < offset + length;
         ++it) {
      const uint64_t begin = std::max(offset, it->first);
      const uint64_t end = std::min(offset + length, it->first + it->second.length);
      if (it->second.bytes == nullptr)
        std::memset(buffer + (begin - offset), 0, end - begin);
      else
        std::memcpy(buffer + (begin - offset), it->second.bytes + (begin - it->first), end - begin);
    }
  }
  // The reverse: replaces in buffer what is overlaid by the medium's own bytes, given in `medium`.
  void unpatch(uint64_t offset, std::byte* buffer, const std::byte* medium,
               uint64_t length) const noexcept {
    const std::lock_guard hold(mutex_);
    for (auto it = first_in(offset, length); it != ranges_.end() && it->first < offset + length;
         ++it) {
      const uint64_t begin = std::max(offset, it->first) - offset;
      const uint64_t end = std::min(offset + length, it->first + it->second.length) - offset;
      std::memcpy(buffer + begin, medium + begin, end - begin);
    }
  }

 private:
  struct range {
    uint64_t length;
    const std::byte* bytes;
  };
  using map = std::map<uint64_t, range>;

  map::const_iterator first_in(uint64_t offset, uint64_t length) const noexcept {
    auto it = ranges_.upper_bound(offset);
    if (it != ranges_.begin()) {
      const auto before = std::prev(it);
      if (before->first + before->second.length > offset) return before;
    }
    return it != ranges_.end() && it->first < offset + length ? it : ranges_.end();
  }

  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  map ranges_;
};

}  // namespace scute::pool
