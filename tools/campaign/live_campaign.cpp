// SPDX-License-Identifier: BSD-3-Clause
#include "live_campaign.hpp"

#include "check_call.hpp"
#include "live_state.hpp"
#include "progress_line.hpp"
#include "rainmaker.hpp"
#include "worker.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

namespace scute_campaign {

namespace {

void rain_and_work(live_state& s, std::deque<worker>& workers) {
  rainmaker rain(s);
  std::vector<std::thread> threads;
  for (worker& w : workers) threads.emplace_back([&] { w.run(); });
  threads.emplace_back([&] { rain.run(); });
  progress_line line(s.how.quiet);
  const auto begun = std::chrono::steady_clock::now();
  for (double t = 0; t < s.how.seconds && !s.stop;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    t = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    line.show(std::min(1.0, t / s.how.seconds), "faults rain");
  }
  line.clear();
  s.stop = true;
  for (auto& t : threads) t.join();
  rain.repair_all();
}

}  // namespace

live_result run_live(const live_settings& how) {
  const std::string path = how.folder + "/live.pool";
  scute_options options;
  scute_options_init(&options);
  options.size = how.size;
  options.protection = how.level;
  how.kind.apply(how.level, options);
  options.rows = how.rows;
  options.flags = SCUTE_OVERWRITE;
  live_state s(how);
  need(scute_create(path.c_str(), &options, &s.pool));
  std::deque<worker> workers;
  for (unsigned i = 0; i < how.threads; ++i) workers.emplace_back(s, i);
  try {
    rain_and_work(s, workers);
    for (worker& w : workers) w.compare_all();
    // And again in another session. A fault that is open at its end was present at its start.
    need(scute_close(std::exchange(s.pool, nullptr)));
    const int code = scute_open(path.c_str(), nullptr, &s.pool);
    if (code != SCUTE_OK) {
      if (!how.wild) s.broken(fmt::format("opening again: {}", scute_errormsg()));
      return s.result;
    }
    rainmaker(s).repair_all();
    s.result.objects = 0;
    for (worker& w : workers) w.compare_all();
    need(scute_close(std::exchange(s.pool, nullptr)));
  } catch (const call_failed& e) {
    // In the wild even the description of a zone may be lost permanently; a report of that is all
    // there is.
    if (!how.wild || e.code != SCUTE_E_CORRUPT) s.broken(e.what());
    scute_close(s.pool);
  } catch (const std::exception& e) {
    s.broken(e.what());
    scute_close(s.pool);
  }
  return s.result;
}

bool print_live(const live_settings& how, const live_result& r) {
  const auto row = [](const char* name, const std::string& value) {
    fmt::print("  {:<14} {}\n", name, value);
  };
  fmt::print("{}, {}, {} rows, {} threads, seed {}\n", how.wild ? "wild" : "gentle",
             level_names[static_cast<size_t>(how.level)], how.rows, how.threads, how.seed);
  row("transactions", fmt::format("{}", r.transactions));
  row("faults",
      fmt::format("{} flips, {} scribbles, {} lost pages", r.flips, r.scribbles, r.pages));
  row("repaired by", fmt::format("{} checks, {} scrubs ({} repairs), and the first user", r.checks,
                                 r.scrubs, r.repaired));
  row("compared", fmt::format("{} reads, {} MiB; {} objects at the end", r.reads,
                              r.bytes_compared >> 20, r.objects));
  row("refused", fmt::format("{}", r.refused));
  if (how.level != SCUTE_PROTECT_MLPC) row("unchecked", fmt::format("{}", r.unchecked));
  row("SILENT", fmt::format("{}", r.silent));
  if (r.broken.empty()) return true;
  fmt::print(
      "FAILED: {}\n  repeat: ./dev explore --campaign live{} --levels {} --rows {} --seed {} "
      "--seconds {}{}{}{}\n",
      r.broken, how.kind.arguments(), level_names[static_cast<size_t>(how.level)], how.rows,
      how.seed, how.seconds, how.wild ? " --wild" : "", how.pages ? "" : " --no-pages",
      !how.scrubs   ? " --repair-by check"
      : !how.checks ? " --repair-by scrub"
                    : "");
  return false;
}

}  // namespace scute_campaign
