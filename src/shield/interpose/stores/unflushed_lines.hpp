// SPDX-License-Identifier: BSD-3-Clause
// Lines that a program stored to and never flushed, or never fenced, as its view reports them.
// Lines that stay unflushed by design are left out: libpmemobj's locks, and the data that it keeps
// for one run of the program.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shield/audit/store_audit.hpp"
#include "shield/interpose/libraries/pmemobj_run_time.hpp"
#include "shield/view/audit.hpp"

namespace scute::core::interpose {

class unflushed_lines final : public view::audit_sink {
 public:
  // Begins with a view that was just opened, and its bytes. In a critical section.
  void begin(const view::file_view* view, const std::byte* bytes) noexcept {
    reset();
    run_time_.look_at(view, bytes);
  }
  // To be called before lines are reported. In a critical section.
  void prepare() noexcept { run_time_.find_library(); }
  // The view is closed.
  void end() noexcept {
    pass_on(nullptr);
    run_time_.look_at(nullptr, nullptr);
  }
  // Called with the view's commit lock held, and its page loaded. Passes on those that are not
  // masked.
  bool left(uint64_t offset, uint32_t n, view::left_as how) noexcept override {
    if (is_masked(offset / line) || (n == line && run_time_.has(offset))) return true;
    if (audit_ != nullptr) audit_->left(offset / line, how);
    return false;
  }
  // Null: no report by places in the source.
  void pass_on(audit::store_audit* to) noexcept { audit_ = to; }

  // If the table is full, further lines are not masked: the audit then reports more than it needs
  // to.
  void mask(uint64_t offset, uint64_t n) noexcept;

 private:
  void reset() noexcept;

  static constexpr uint64_t line = 64;
  static constexpr size_t places = size_t{1} << 14, tries = 16;

  static size_t place_of(uint64_t number) noexcept { return number * 0x9e3779b97f4a7c15u >> 50; }
  bool is_masked(uint64_t number) const noexcept;

  std::array<std::atomic<uint64_t>, places> masks_{};  // number of a line + 1
  pmemobj_run_time run_time_;
  audit::store_audit* audit_ = nullptr;
};

}  // namespace scute::core::interpose
