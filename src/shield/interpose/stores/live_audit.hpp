// SPDX-License-Identifier: BSD-3-Clause
// The audit of a view by places in the source, in the audited process: it reports strays as they
// are found.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "shield/audit/store_audit.hpp"

namespace scute::core::interpose {

// The audit of a file that is about to be opened.
struct audit_plan {
  bool wanted = false;
  audit::on_stray strays = audit::on_stray::ignore;
  std::string unreported;  // objects whose stores are not reported
  bool remembers = false;  // the content of lines is noted when they are flushed
};
// In a critical section.
audit_plan plan_audit();
// More code was loaded: updates how open files' audits treat strays. In a critical section.
void plan_audits_again();

class live_audit final : public audit::store_audit {
 public:
  // Memory that store_audit::format() has made.
  live_audit(std::span<std::byte> at, const std::string& path);
  ~live_audit() override { live_audit::report_loaded(); }
  live_audit(const live_audit&) = delete;
  live_audit& operator=(const live_audit&) = delete;

 private:
  void report_loaded() noexcept override;
  void stray(const audit::line_finding& f) noexcept override;

  std::string path_;
  std::atomic<unsigned> reported_{0};
  std::atomic<size_t> looked_at_{0};  // findings
};

}  // namespace scute::core::interpose
