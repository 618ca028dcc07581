// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/site_report.hpp"

#include "base/failure.hpp"
#include "shield/audit/store_audit.hpp"
#include "shield/view/line.hpp"

namespace scute::core::supervisor {
namespace {

using audit::site_event;

void report_site(const audit::site_record& s, scute_shield_site_counts& to,
                 const scute_shield_run_options& options) {
  const auto count = [&](site_event what) { return s.counts[static_cast<size_t>(what)]; };
  to.source = s.file.c_str();
  to.function = s.function.c_str();
  to.line = s.line;
  to.column = s.column;
  to.flushes = count(site_event::flushed);
  to.repeated_flushes = count(site_event::flushed_again);
  to.unchanged_flushes = count(site_event::unchanged);
  to.fences = count(site_event::fenced);
  to.empty_fences = count(site_event::fenced_idle);
  to.unflushed_lines = count(site_event::never_flushed);
  to.stray_lines = count(site_event::strays);
  to.unfenced_lines = count(site_event::never_fenced);
  options.site(options.arg, &to);
}

void report_findings(const audit::store_audit& a, const char* file, uint32_t process,
                     const scute_shield_run_options& options) {
  for (size_t i = 0; i < a.findings(); ++i) {
    audit::line_finding f;
    if (!a.read_finding(i, f)) continue;
    audit::site_record stored, flushed;
    if (f.stored_at != 0) a.read_site(f.stored_at, stored);
    if (f.flushed_at != 0) a.read_site(f.flushed_at, flushed);
    scute_shield_finding to{};
    to.struct_size = sizeof to;
    to.file = file;
    to.process = process;
    static_assert(static_cast<int>(audit::line_finding::kind::never_flushed) ==
                  SCUTE_SHIELD_NEVER_FLUSHED);
    static_assert(static_cast<int>(audit::line_finding::kind::stray) == SCUTE_SHIELD_STRAY);
    static_assert(static_cast<int>(audit::line_finding::kind::stray_loaded) ==
                  SCUTE_SHIELD_STRAY_LOADED);
    static_assert(static_cast<int>(audit::line_finding::kind::never_fenced) ==
                  SCUTE_SHIELD_NEVER_FENCED);
    static_assert(static_cast<int>(audit::line_finding::kind::flushed_early) ==
                  SCUTE_SHIELD_FLUSHED_EARLY);
    to.what = static_cast<int32_t>(f.what);
    to.offset = f.line * view::line_size;
    to.stored_source = stored.file.c_str();
    to.stored_line = stored.line;
    to.flushed_source = flushed.file.c_str();
    to.flushed_line = flushed.line;
    options.finding(options.arg, &to);
  }
}

}  // namespace

std::string report_sites(const held_view& view, uint32_t process,
                         const scute_shield_run_options& options, scute_shield_counts& counts) {
  try {
    const view_memory memory = attached(view);
    if (memory.more().empty()) return {};
    const audit::store_audit a(memory.more());
    counts.stray_lines = a.strays();
    if (options.site != nullptr) {
      scute_shield_site_counts to{};
      to.struct_size = sizeof to;
      to.file = view.path.c_str();
      to.process = process;
      audit::site_record s;
      for (uint32_t i = 0; i < audit::site_table::places; ++i)
        if (a.read_site(i, s)) report_site(s, to, options);
    }
    if (options.finding != nullptr) report_findings(a, view.path.c_str(), process, options);
    return a.unreported();
  } catch (const failure& e) {
    if (options.failed != nullptr) options.failed(options.arg, view.path.c_str(), e.what());
  }
  return {};
}

}  // namespace scute::core::supervisor
