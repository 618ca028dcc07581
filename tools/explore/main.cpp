// SPDX-License-Identifier: BSD-3-Clause
// scute-explore: crash states of all of Scute's own scenarios.
#include <fmt/format.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "run.hpp"

#if defined(__SANITIZE_THREAD__)
// On the simulated medium the handler of a lost page records what it stores, in memory that grows.
// Its faults come from loads of the medium only, where no allocation is under way.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "report_signal_unsafe=0";
}
#endif

using namespace scute;

namespace {

std::vector<explore::entry> chosen(const std::vector<std::string>& patterns) {
  std::vector<explore::entry> list;
  for (const auto& e : explore::catalogue()) {
    bool wanted = patterns.empty();
    for (const auto& p : patterns) wanted = wanted || ::fnmatch(p.c_str(), e.name.c_str(), 0) == 0;
    if (wanted) list.push_back(e);
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Fails the power at every moment of Scute's own scenarios, on a simulated medium, and lets\n"
      "Scute recover from each state that such a failure could have left. The objects must be\n"
      "those of before the step in progress or after it, a check must find nothing, and the\n"
      "pool must be usable.",
      "scute-explore");
  std::vector<std::string> patterns;
  explore::run_options how;
  uint64_t states = 500000, each = 0;
  double seconds_max = 0;
  how.jobs = std::max(1u, std::thread::hardware_concurrency());
  bool list = false, no_recrash = false, no_faults = false;
  app.add_option("SCENARIO", patterns, "names, or patterns such as 'overwrite/*' (default: all)");
  app.add_flag("-l,--list", list, "list the scenarios and exit");
  auto* total =
      app.add_option("-n,--states", states, "crash states in all, divided among the scenarios");
  total->capture_default_str();
  app.add_option("--each", each, "crash states of each scenario, instead of --states")
      ->excludes(total);
  app.add_option("-t,--seconds", seconds_max,
                 "explore for so many seconds: rounds over all scenarios, each with another seed")
      ->excludes(total);
  app.add_option("-s,--seed", how.each.seed, "seed of all random choices")->capture_default_str();
  app.add_option("-i,--interleavings", how.each.interleavings,
                 "orders of the threads to try, for scenarios that have several")
      ->capture_default_str();
  app.add_flag("--eadr", how.each.eadr, "caches are durable (default: only what was written back)");
  app.add_flag("--no-recrash", no_recrash, "do not fail the power during a recovery");
  app.add_flag("--no-faults", no_faults, "add no damage to a crash");
  app.add_option("--only", how.each.only,
                 "verify this one state of one scenario, by the name that a story gives it");
  app.add_option("-j,--jobs", how.jobs, "scenarios explored at once")->capture_default_str();
  app.add_flag("-q,--quiet", how.quiet, "print violations and the last line only");
  app.footer(
      "Columns: states verified; those of them that a crash of a recovery left; those with a fault "
      "as\n"
      "well; moments at which the power failed; runs recorded (interleavings, seeds); states per\n"
      "second.\n"
      "Exit status: 0 no violation, 1 a violation (its story is printed), 2 wrong usage.\n"
      "How it works, and how to use it for your own structures: docs/guides/crash-testing.md.\n"
      "\nExamples:\n"
      "  scute-explore --list\n"
      "  scute-explore 'overwrite/*' --each 20000\n"
      "  scute-explore --seconds 600 --seed 7");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  const auto scenarios = chosen(patterns);
  if (scenarios.empty()) {
    fmt::print(stderr, "scute-explore: no scenario has such a name; --list shows them\n");
    return 2;
  }
  if (list) {
    for (const auto& e : scenarios) fmt::print("{:<28} {}\n", e.name, e.about);
    return 0;
  }
  if (!how.each.only.empty() && scenarios.size() != 1) {
    fmt::print(stderr, "scute-explore: --only needs the name of one scenario\n");
    return 2;
  }
  how.each.crash_recovery = !no_recrash;
  how.each.faults = !no_faults;
  how.repeat = fmt::format("./dev explore --interleavings {}{}{}{}", how.each.interleavings,
                           how.each.eadr ? " --eadr" : "", no_recrash ? " --no-recrash" : "",
                           no_faults ? " --no-faults" : "");
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  how.each.states = each != 0          ? each
                    : seconds_max != 0 ? 1000
                                       : std::max<uint64_t>(states / scenarios.size(), 1);
  try {
    explore::summary s = explore::run(scenarios, how);
    // Seeds of a round follow each other, so rounds are kept apart by more than one uses.
    while (s.violated == 0 && elapsed() < seconds_max) {
      how.each.seed += 100;
      const bool quiet = std::exchange(how.quiet, true);
      s += explore::run(scenarios, how);
      how.quiet = quiet;
    }
    const double seconds = elapsed();
    fmt::print(
        "{} scenarios, {} crash states ({} after crashes of recoveries, {} with faults) in {:.1f} "
        "s, "
        "{:.0f} states/s per core, seed {}: {}\n",
        scenarios.size(), s.states, s.recrashed, s.damaged, seconds,
        s.seconds > 0 ? static_cast<double>(s.states) / s.seconds : 0.0, how.each.seed,
        s.violated == 0 ? "no violation" : fmt::format("{} VIOLATED", s.violated));
    return s.violated == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "scute-explore: {}\n", e.what());
    return 1;
  }
}
