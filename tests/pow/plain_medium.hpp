// SPDX-License-Identifier: BSD-3-Clause
// A file that is bytes in memory: every store is there at once.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "core/medium/medium.hpp"

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
    if (before_read) before_read();
    if (offset < lost_to && offset + n > lost_from) return false;
    return medium::read(offset, to, n);
  }

  // The nth fence from now on does not make anything durable.
  void fail_fence(uint64_t nth) { fails_in_ = nth; }
  std::atomic<uint64_t> fences{0};
  mutable std::function<void()> on_read;              // once
  static inline std::function<void()> before_read;    // each time
  static inline std::function<void()> before_fence;   // each time
  static inline uint64_t lost_from = 0, lost_to = 0;  // cannot be read
  static inline bool stores_repair = false;           // until a store there

 protected:
  using writer = ::scute::core::medium::writer;
  void do_stream(writer&, void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
    const auto at = static_cast<uint64_t>(static_cast<std::byte*>(dst) - base_);
    if (stores_repair && at < lost_to && at + n > lost_from) lost_from = lost_to = 0;
  }
  void do_flush(writer&, const void*, size_t) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_fence(writer&) noexcept override {
    ++fences;
    if (before_fence) before_fence();
    if (fails_in_ != 0 && fails_in_.fetch_sub(1) == 1) note_failure(EIO);
  }

 private:
  std::atomic<uint64_t> fails_in_{0};
};

}  // namespace scute::core::pow
