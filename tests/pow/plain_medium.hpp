// SPDX-License-Identifier: BSD-3-Clause
// A file that is bytes in memory: every store is there at once.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "medium/medium.hpp"

namespace scute::core::pow {

class plain_medium final : public medium::medium {
 public:
  explicit plain_medium(std::span<std::byte> bytes) {
    base_ = bytes.data();
    size_ = bytes.size();
    kind_ = ::scute::core::medium::kind::simulated;
  }
  const char* flush_name() const noexcept override { return "none"; }
  bool read(uint64_t offset, void* to, size_t n) const noexcept override {
    if (on_read) std::exchange(on_read, {})();
    if (offset < lost_to && offset + n > lost_from) return false;
    return medium::read(offset, to, n);
  }

  mutable std::function<void()> on_read;              // once
  static inline uint64_t lost_from = 0, lost_to = 0;  // cannot be read

 protected:
  using writer = ::scute::core::medium::writer;
  void do_stream(writer&, void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_flush(writer&, const void*, size_t) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_fence(writer&) noexcept override {}
};

}  // namespace scute::core::pow
