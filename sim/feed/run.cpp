// SPDX-License-Identifier: BSD-3-Clause
#include "feed/run.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace scute::sim {

run::run(const settings& s, std::string_view scheme_name)
    : machine_(s), scheme_(make_scheme(scheme_name, machine_)) {
  if (s.pm_page != page_bytes / 1024 && scheme_name != "none")
    throw std::invalid_argument("schemes know pages of 4 KiB: pm.page");
}

uint64_t run::take(mark what, uint64_t a, uint64_t b) {
  switch (what) {
    case mark::persistent:
      machine_.mem.add_persistent(a, b);
      persistent_.emplace_back(a, b);
      break;
    case mark::start:
      if (read_) {
        witness_ = std::make_unique<witness>(*scheme_);
        for (const auto& [address, bytes] : persistent_)
          witness_->remember(address, read_(address, bytes));
      }
      started_ = true;
      measuring_ = true;
      break;
    case mark::stop:
      started_ = false;
      measuring_ = false;
      at_stop_ = totals();
      break;
    case mark::measure:
      at_measure_ = totals();
      elsewhere_write_backs_ = elsewhere_fences_ = 0;
      break;
    case mark::over: at_over_ = totals(); break;
    case mark::counted: library_ = {a, b}; break;
    case mark::begin:
      if (!is_on()) break;
      scheme_->begin(core_);
      if (witness_) witness_->begin(core_);
      break;
    case mark::end:
      if (!is_on() || !scheme_->is_open(core_)) break;
      scheme_->end(core_);
      if (witness_) witness_->end(core_, machine_.cores[core_].now());
      break;
    case mark::run_on: core_ = static_cast<unsigned>(a % machine_.cores.size()); break;
    case mark::pause: paused_ = true; break;
    case mark::resume: paused_ = false; break;
    case mark::locked:
      if (const auto at = released_.find(a); started_ && at != released_.end())
        machine_.cores[core_].wait(at->second);
      break;
    case mark::unlocked:
      if (started_) released_[a] = machine_.cores[core_].drained();
      break;
    case mark::footprint: footprint_ = a; break;
    case mark::next_core: {
      uint64_t best = core_;
      ticks least = UINT64_MAX;
      for (uint64_t i = 0; i < std::min<uint64_t>(b, machine_.cores.size()); ++i)
        if ((a >> i & 1) != 0 && machine_.cores[i].now() < least) {
          least = machine_.cores[i].now();
          best = i;
        }
      return best;
    }
  }
  return 0;
}

run::result run::results() const {
  const result end = at_stop_ ? *at_stop_ : totals();
  result r = at_over_ ? *at_over_ : end;
  r.deferred_ns = end.ns - r.ns;
  r.deferred_lines = end.pm_lines - r.pm_lines;
  r.deferred_write_backs = end.write_backs - r.write_backs;
  r.deferred_streamed = end.streamed - r.streamed;
  r.deferred_fences = end.fences - r.fences;
  if (at_measure_) {
    const result& from = *at_measure_;
    for (double result::* const each : {&result::ns, &result::pm_waited_ns, &result::fenced_ns})
      r.*each -= from.*each;
    for (uint64_t result::* const each :
         {&result::instructions, &result::loads, &result::stores, &result::write_backs,
          &result::streamed, &result::fences, &result::l1_misses, &result::l2_misses,
          &result::tlb_misses, &result::mispredicted, &result::pm_lines, &result::pm_reads})
      r.*each -= from.*each;
  }
  r.elsewhere_write_backs = elsewhere_write_backs_;
  r.elsewhere_fences = elsewhere_fences_;
  r.library = library_;
  r.footprint = footprint_;
  r.of_scheme = scheme_->counted();
  return r;
}

run::result run::totals() const {
  result r;
  r.ns = to_ns(machine_.end());
  ticks fenced = 0;
  for (const core& c : machine_.cores) {
    const core::counts& n = c.counted();
    r.instructions += n.instructions;
    r.loads += n.loads;
    r.stores += n.stores;
    r.write_backs += n.write_backs;
    r.streamed += n.streamed;
    r.fences += n.fences;
    r.mispredicted += n.mispredicted;
    fenced += n.fenced;
    const caches::counts& k = machine_.cache.counted(c.number());
    r.l1_misses += k.l1_misses;
    r.l2_misses += k.l2_misses;
    r.tlb_misses += k.tlb2_misses;
  }
  r.fenced_ns = to_ns(fenced);
  const persistent_memory::counts& pm = machine_.mem.pm.counted();
  r.pm_lines = pm.lines;
  r.pm_reads = pm.reads;
  r.pm_waited_ns = to_ns(pm.waited);
  return r;
}

std::string to_json(const run::result& r, const settings& s, std::string_view scheme_name,
                    std::string_view work, std::string_view machine_name,
                    const witness::crash_result* crashes) {
  std::string out = "{";
  const auto add = [&](const char* name, const std::string& value) {
    if (out.size() > 1) out += ", ";
    out += '"';
    out += name;
    out += "\": " + value;
  };
  const auto quoted = [](std::string_view v) { return '"' + std::string(v) + '"'; };
  const auto number = [&](const char* name, double v) {
    char text[40];
    std::snprintf(text, sizeof text, "%.10g", v);
    add(name, text);
  };
  const auto count = [&](const char* name, uint64_t v) { add(name, std::to_string(v)); };
  add("work", quoted(work));
  add("scheme", quoted(scheme_name));
  add("machine", quoted(machine_name));
  number("ns", r.ns);
  count("instructions", r.instructions);
  count("loads", r.loads);
  count("stores", r.stores);
  count("write_backs", r.write_backs);
  count("streamed", r.streamed);
  count("fences", r.fences);
  count("l1_misses", r.l1_misses);
  count("l2_misses", r.l2_misses);
  count("tlb_misses", r.tlb_misses);
  count("mispredicted", r.mispredicted);
  count("pm_lines", r.pm_lines);
  count("pm_reads", r.pm_reads);
  number("pm_waited_ns", r.pm_waited_ns);
  number("fenced_ns", r.fenced_ns);
  number("deferred_ns", r.deferred_ns);
  count("deferred_lines", r.deferred_lines);
  count("deferred_write_backs", r.deferred_write_backs);
  count("deferred_streamed", r.deferred_streamed);
  count("deferred_fences", r.deferred_fences);
  count("elsewhere_write_backs", r.elsewhere_write_backs);
  count("elsewhere_fences", r.elsewhere_fences);
  if (r.library) {
    count("library_fences", r.library->first);
    count("library_lines", r.library->second);
  }
  count("footprint", r.footprint);
  count("transactions", r.of_scheme.transactions);
  count("log_lines", r.of_scheme.log_lines);
  count("data_lines", r.of_scheme.data_lines);
  count("undo_records", r.of_scheme.undo_records);
  count("line_records", r.of_scheme.line_records);
  count("page_records", r.of_scheme.page_records);
  count("epochs_cleared", r.of_scheme.epochs_cleared);
  number("log_bytes_mean", r.of_scheme.log_bytes_mean);
  if (crashes != nullptr) {
    count("crash_moments", crashes->moments);
    count("crashes", crashes->crashes);
    count("crash_transactions", crashes->transactions);
    count("crash_words", crashes->words);
    count("crash_loose", crashes->loose);
    count("crash_shared", crashes->shared);
    add("crash_wrong", quoted(crashes->wrong));
  }
  const std::vector<setting> now = list(s), usual = list(settings{});
  std::string changed;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].value == usual[i].value) continue;
    if (!changed.empty()) changed += ", ";
    changed += quoted(now[i].name) + ": " + now[i].value;
  }
  add("numbers", "{" + changed + "}");
  return out + "}";
}

}  // namespace scute::sim
