// SPDX-License-Identifier: BSD-3-Clause
// Lines that a program stored to and never flushed, as its view tells of them; those apart that nobody flushes by design:
// libpmemobj's locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "audit/store_audit.hpp"
#include "view/audit.hpp"

namespace scute::core::interpose {

class unflushed_lines final : public view::audit_sink {
 public:
  // Called with the view's cut lock held. Counts, and passes on those that are not masked.
  void never_flushed(uint64_t offset, uint32_t) noexcept override {
    if (is_masked(offset / line))
      masked_.fetch_add(1, std::memory_order_relaxed);
    else if (audit_ != nullptr)
      audit_->never_flushed(offset / line);
  }
  // Null: nobody asks by places in the source.
  void pass_on(audit::store_audit* to) noexcept { audit_ = to; }

  // Lines beyond what the table holds are not masked: the audit then says more than it need.
  void mask(uint64_t offset, uint64_t n) noexcept;
  uint64_t masked() const noexcept { return masked_.load(std::memory_order_relaxed); }
  void reset() noexcept;

 private:
  static constexpr uint64_t line = 64;
  static constexpr size_t places = size_t{1} << 14, tries = 16;

  static size_t place_of(uint64_t number) noexcept { return number * 0x9e3779b97f4a7c15u >> 50; }
  bool is_masked(uint64_t number) const noexcept;

  std::array<std::atomic<uint64_t>, places> masks_{};  // number of a line + 1
  std::atomic<uint64_t> masked_{0};
  audit::store_audit* audit_ = nullptr;
};

}  // namespace scute::core::interpose
