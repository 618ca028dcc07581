// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios.hpp"

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "program_run.hpp"

namespace scute::testing {
namespace {

using view_tests::program_kind;
using view_tests::program_run;

// Programs from seed to seed until there were as many states as wanted. A state is named by the
// program's number: "s1.p17" is number 17 of seed 1.
exploration explore_programs(const std::string& name, const program_kind& k,
                             const explore_options& how) {
  exploration r;
  const auto begin = std::chrono::steady_clock::now();
  uint64_t seed = how.seed, only = UINT64_MAX;
  if (!how.only.empty()) {
    unsigned long long s = 0, p = 0;
    if (std::sscanf(how.only.c_str(), "s%llu.p%llu", &s, &p) != 2)
      throw std::invalid_argument("a state of this scenario is named like s1.p17");
    seed = s;
    only = p;
  }
  uint64_t reported = 0;
  for (uint64_t p = only == UINT64_MAX ? 0 : only; r.sound && r.states < how.states; ++p) {
    program_run run(k, seed * 1000003 + p);
    run.run();
    r.states += run.states();
    ++r.interleavings;
    if (k.deaths) r.killed = r.states;
    if (!run.wrong().empty()) {
      const std::string state = "s" + std::to_string(seed) + ".p" + std::to_string(p);
      r.sound = false;
      r.story = "scenario \"" + name + "\", state " + state + ":\n" + run.story();
      std::string repeat = how.repeat_command;
      if (const size_t at = repeat.find("%s"); at != std::string::npos)
        repeat.replace(at, 2, state);
      if (!repeat.empty()) r.story += "to repeat it: " + repeat + "\n";
    }
    if (how.progress && r.states >= reported + 500) {
      reported = r.states;
      progress now;
      now.states = r.states;
      how.progress(now);
    }
    if (only != UINT64_MAX) break;
  }
  r.crash_points = r.states;
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return r;
}

}  // namespace

const std::vector<view_entry>& view_scenarios() {
  static const std::vector<view_entry> all = [] {
    std::vector<view_entry> list;
    const auto add = [&](const char* name, const char* about, const program_kind& k) {
      const std::string full = std::string("view/") + name;
      list.push_back({full, about,
                      [=](const explore_options& how) { return explore_programs(full, k, how); }});
    };
    program_kind k;
    add("threads", "two threads, flags through memory, clflush, msync", k);
    k.windows = true;
    add("windows", "the same with windows", k);
    program_kind storm;
    storm.storm = true;
    storm.instructions = 300;
    storm.file_lines = 64;
    add("storm", "flushes in every round of a commit set", storm);
    program_kind torn;
    torn.torn = true;
    torn.lines = 2;
    torn.instructions = 24;
    add("torn", "stores to lines that another thread writes back", torn);
    program_kind many;
    many.many = true;
    add("lists", "more flushes than a list has entries", many);
    program_kind handlers;
    handlers.handlers = true;
    add("handlers", "signal handlers that flush and fence inside the view", handlers);
    program_kind deaths;
    deaths.deaths = deaths.contents = true;
    deaths.file_lines = 64;
    deaths.instructions = 8;
    add("deaths", "the process dies at every moment, and a supervisor writes back", deaths);
    program_kind pages = deaths;
    pages.pages = true;
    pages.file_lines = 128;
    add("pages", "pages come when they are touched, and the process dies at every moment", pages);
    program_kind damage;
    damage.damage = damage.contents = true;
    add("damage", "lines of the medium change without a store to the view", damage);
    return list;
  }();
  return all;
}

}  // namespace scute::testing
