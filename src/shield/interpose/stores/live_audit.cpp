// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/live_audit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/libraries/loaded_objects.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/view/line.hpp"

namespace scute::core::interpose {
namespace {

constexpr unsigned reported_max = 8;

audit::on_stray asked_for(const store_reporters& reporters) {
  const std::string& word = asked().strays;
  if (word == "ignore") return audit::on_stray::ignore;
  if (word == "stop") return audit::on_stray::stop;
  if (word == "report") return audit::on_stray::report;
  return reporters.any && (reporters.unreported.empty() || asked().sites) ? audit::on_stray::report
                                                                          : audit::on_stray::ignore;
}

// Needs no heap memory: a fence in a handler comes here.
void put_place(char* to, size_t room, const char* how, const audit::site_names* at) {
  to[0] = 0;
  if (at != nullptr)
    std::snprintf(to, room, "; %s at %s:%u (%s)", how, at->file, at->line, at->function);
}

}  // namespace

audit_plan plan_audit() {
  const store_reporters reporters = find_store_reporters();
  audit_plan plan{asked().sites, asked_for(reporters), reporters.unreported, asked().sites};
  plan.wanted |= plan.strays != audit::on_stray::ignore;
  return plan;
}

void plan_audits_again() {
  const audit_plan plan = plan_audit();
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next())
    if (f->is_open() && f->audit() != nullptr)
      f->audit()->add_unreported(plan.unreported, plan.strays);
}

live_audit::live_audit(std::span<std::byte> at, const std::string& path)
    : store_audit(at), path_(path), looked_at_(findings()) {}

void live_audit::report_loaded() noexcept {
  audit::line_finding f;
  while (looked_at_.load(std::memory_order_relaxed) < findings()) {
    const size_t i = looked_at_.load(std::memory_order_relaxed);
    // A finding that is being entered is reported next time.
    if (!read_finding(i, f)) return;
    looked_at_.store(i + 1, std::memory_order_relaxed);
    if (f.what == audit::line_finding::kind::stray_loaded) stray(f);
  }
}

void live_audit::stray(const audit::line_finding& f) noexcept {
  if (reported_.load(std::memory_order_relaxed) == reported_max) return;
  const unsigned count = ++reported_;
  char text[1024], stored[256], flushed[256];
  audit::site_names at;
  put_place(stored, sizeof stored, "stored to last", read_names(f.stored_at, at) ? &at : nullptr);
  put_place(flushed, sizeof flushed,
            f.what == audit::line_finding::kind::stray ? "flushed" : "loaded",
            read_names(f.flushed_at, at) ? &at : nullptr);
  const unsigned long long at_byte = f.line * view::line_size;
  const int n = std::snprintf(
      text, sizeof text,
      "scute: %s: stray store: the 64 bytes at 0x%llx changed without a reported store%s%s%s\n",
      path_.c_str(), at_byte, stored, flushed,
      count == reported_max ? "; further ones are counted and not shown" : "");
  if (n > 0)
    static_cast<void>(
        !next::write(STDERR_FILENO, text, std::min(static_cast<size_t>(n), sizeof text - 1)));
}

}  // namespace scute::core::interpose
