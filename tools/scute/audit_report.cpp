// SPDX-License-Identifier: BSD-3-Clause
#include "audit_report.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scute_tool {

namespace {

constexpr size_t sites_shown = 30;

uint64_t trouble_of(const scute_shield_site_counts& c) {
  return c.unflushed_lines + c.unfenced_lines + c.stray_lines + c.repeated_flushes +
         c.unchanged_flushes + c.empty_fences;
}

// Causes of lost data come first.
bool is_worse(const site_counts* a, const site_counts* b) {
  const auto key = [](const site_counts& s) {
    return std::pair(s.counts.stray_lines + s.counts.unflushed_lines + s.counts.unfenced_lines,
                     trouble_of(s.counts));
  };
  return key(*a) > key(*b);
}

std::string place_text(const std::string& source, uint32_t line) {
  return source.empty() && line == 0 ? "elsewhere" : fmt::format("{}:{}", source, line);
}

std::string place_of(const site_counts& s) {
  const std::string place = place_text(s.source, s.counts.line);
  return s.function.empty() ? place : fmt::format("{} ({})", place, s.function);
}

void print_facts(const view_counts& v) {
  const scute_shield_counts& c = v.counts;
  fact_sheet facts;
  facts.add("file", v.file);
  facts.add("flushed", fmt::format("{} lines", count_text(c.flushes)));
  facts.add("of them again", fmt::format("{} before a fence", count_text(c.repeated_flushes)));
  facts.add("of them in vain", fmt::format("{} unchanged", count_text(c.unchanged_flushes)));
  facts.add("fences", fmt::format("{}, {} with nothing to wait for", count_text(c.fences),
                                  count_text(c.empty_fences)));
  facts.add("commits",
            fmt::format("{} of {} lines", count_text(c.commits), count_text(c.committed_lines)));
  std::string unflushed = fmt::format("{} lines", count_text(c.unflushed_lines));
  if (c.early_flushes != 0)
    unflushed += fmt::format(", {} of them since their last flush", count_text(c.early_flushes));
  if (c.unsure_lines != 0)
    unflushed +=
        fmt::format("; {} of them may be libpmemobj's own, as the program did not close its pool",
                    count_text(c.unsure_lines));
  if (c.masked_lines != 0)
    unflushed += fmt::format(", and {} that libpmemobj never flushes", count_text(c.masked_lines));
  facts.add("never flushed", unflushed);
  facts.add("never fenced", fmt::format("{} lines", count_text(c.unfenced_lines)));
  if (c.stray_lines != 0)
    facts.add("stray stores",
              fmt::format("{} lines{}", count_text(c.stray_lines),
                          v.unreported_objects.empty()
                              ? std::string()
                              : "; it may have been " + v.unreported_objects +
                                    ", which was not compiled with -fscute=detect"));
  if (c.signal != 0) facts.add("killed by signal", fmt::format("{}", c.signal));
  facts.print();
}

void print_sites(const view_counts& v, bool all) {
  std::vector<const site_counts*> shown;
  bool instrumented = false;
  for (const site_counts& s : v.sites) {
    instrumented = instrumented || s.counts.line != 0 || !s.source.empty();
    if (all || trouble_of(s.counts) != 0) shown.push_back(&s);
  }
  if (!instrumented || shown.empty()) return;
  std::stable_sort(shown.begin(), shown.end(), is_worse);
  const size_t left_out = all || shown.size() <= sites_shown ? 0 : shown.size() - sites_shown;
  shown.resize(shown.size() - left_out);
  table t({{"where"},
           {"stray", true},
           {"never flushed", true},
           {"never fenced", true},
           {"flushes", true},
           {"again", true},
           {"in vain", true},
           {"fences", true},
           {"idle", true}});
  const auto cell = [](uint64_t n) { return n == 0 ? std::string("-") : count_text(n); };
  for (const site_counts* s : shown) {
    const scute_shield_site_counts& c = s->counts;
    t.add({place_of(*s), cell(c.stray_lines), cell(c.unflushed_lines), cell(c.unfenced_lines),
           cell(c.flushes), cell(c.repeated_flushes), cell(c.unchanged_flushes), cell(c.fences),
           cell(c.empty_fences)});
  }
  fmt::print("\n");
  t.print("  ");
  if (left_out != 0) fmt::print("  and {} places more (--all)\n", count_text(left_out));
}

const char* text_of(const scute_shield_finding& f) {
  switch (f.what) {
    case SCUTE_SHIELD_NEVER_FLUSHED: return "never flushed";
    case SCUTE_SHIELD_NEVER_FENCED: return "flushed and never fenced";
    case SCUTE_SHIELD_FLUSHED_EARLY: return "never flushed since its last store";
    default: return "a stray store";
  }
}

void print_lines(const view_counts& v, size_t lines) {
  const std::vector<line_finding>& found = v.findings;
  if (found.empty() || lines == 0) return;
  fmt::print("\n");
  for (size_t i = 0; i < std::min(found.size(), lines); ++i) {
    const scute_shield_finding& f = found[i].finding;
    std::string where;
    if (f.stored_line != 0 || !found[i].stored_source.empty())
      where += ", stored to last at " + place_text(found[i].stored_source, f.stored_line);
    if (f.flushed_line != 0 || !found[i].flushed_source.empty())
      where += (f.what == SCUTE_SHIELD_STRAY_LOADED ? ", loaded at " : ", flushed at ") +
               place_text(found[i].flushed_source, f.flushed_line);
    fmt::print("  line {:#x}: {}{}\n", f.offset, text_of(f), where);
  }
  if (found.size() > lines)
    fmt::print("  and {} lines more (--lines)\n", count_text(found.size() - lines));
}

json site_json(const site_counts& s) {
  const scute_shield_site_counts& c = s.counts;
  return {{"source", s.source},
          {"line", c.line},
          {"column", c.column},
          {"function", s.function},
          {"flushes", c.flushes},
          {"repeated_flushes", c.repeated_flushes},
          {"unchanged_flushes", c.unchanged_flushes},
          {"fences", c.fences},
          {"empty_fences", c.empty_fences},
          {"unflushed_lines", c.unflushed_lines},
          {"stray_lines", c.stray_lines},
          {"unfenced_lines", c.unfenced_lines}};
}

json finding_json(const line_finding& f) {
  const bool loaded = f.finding.what == SCUTE_SHIELD_STRAY_LOADED;
  const bool stray = loaded || f.finding.what == SCUTE_SHIELD_STRAY;
  return {{"what", stray ? "stray" : text_of(f.finding)},
          {"offset", f.finding.offset},
          {"stored_source", f.stored_source},
          {"stored_line", f.finding.stored_line},
          {loaded ? "loaded_source" : "flushed_source", f.flushed_source},
          {loaded ? "loaded_line" : "flushed_line", f.finding.flushed_line}};
}

json view_json(const view_counts& v) {
  const scute_shield_counts& c = v.counts;
  json sites = json::array(), findings = json::array();
  for (const site_counts& s : v.sites) sites.push_back(site_json(s));
  for (const line_finding& f : v.findings) findings.push_back(finding_json(f));
  return {{"file", v.file},
          {"process", c.process},
          {"signal", c.signal},
          {"flushes", c.flushes},
          {"repeated_flushes", c.repeated_flushes},
          {"unchanged_flushes", c.unchanged_flushes},
          {"fences", c.fences},
          {"empty_fences", c.empty_fences},
          {"commits", c.commits},
          {"committed_lines", c.committed_lines},
          {"unflushed_lines", c.unflushed_lines},
          {"masked_lines", c.masked_lines},
          {"dropped_lines", c.dropped_lines},
          {"stray_lines", c.stray_lines},
          {"unreported_objects", v.unreported_objects},
          {"repairs", c.repairs},
          {"unfenced_lines", c.unfenced_lines},
          {"early_flushes", c.early_flushes},
          {"unsure_lines", c.unsure_lines},
          {"sites", std::move(sites)},
          {"lines", std::move(findings)}};
}

}  // namespace

audit_totals totals_of(const program_notice& noticed) {
  audit_totals t;
  for (const view_counts& v : noticed.views) {
    t.unflushed += v.counts.unflushed_lines;
    t.unsure += v.counts.unsure_lines;
    t.unfenced += v.counts.unfenced_lines;
    t.strays += v.counts.stray_lines;
    t.certain_strays += v.unreported_objects.empty() ? v.counts.stray_lines : 0;
    t.repeated += v.counts.repeated_flushes;
    t.unchanged += v.counts.unchanged_flushes;
    t.idle += v.counts.empty_fences;
  }
  return t;
}

void print_audit(const program_notice& noticed, bool all, size_t lines) {
  for (const view_counts& v : noticed.views) {
    print_facts(v);
    print_sites(v, all);
    print_lines(v, lines);
    fmt::print("\n");
  }
}

json views_json(const program_notice& noticed) {
  json views = json::array();
  for (const view_counts& v : noticed.views) views.push_back(view_json(v));
  return views;
}

}  // namespace scute_tool
