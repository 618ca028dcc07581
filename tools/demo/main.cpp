// SPDX-License-Identifier: BSD-3-Clause
// main.cpp: scute-demo: loads this machine's package index
// into a pool while the loader is killed again and again, damages it under load and the closed file
// as well, and shows that not one byte was lost.
#include "drill.hpp"
#include "live.hpp"
#include "package_index.hpp"
#include "pow_drill.hpp"
#include "status_line.hpp"
#include "stop_request.hpp"
#include "workplace.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <random>

namespace {

using namespace scute_demo;

constexpr double mib = 1024 * 1024;

struct arguments {
  std::string medium = "auto";
  std::string folder;
  std::string pool_size;
  uint64_t kills = 20;
  uint64_t seed = 0;
  uint64_t records = UINT64_MAX;
  uint64_t batch = 0;
  double live_seconds = 2;
  bool keep = false;
  bool pow = false;
};

// Slots and tree nodes are not full, and parity, logs and keys take room.
uint64_t pool_size_for(uint64_t bytes) {
  const uint64_t wanted = bytes * 5 / 2 + (uint64_t{32} << 20);
  return (wanted + (uint64_t{1} << 20) - 1) >> 20 << 20;
}

uint64_t parse_size(const std::string& text) {
  scute::options options;
  options.set("size", text);
  return options.size;
}

double milliseconds(double seconds) {
  return seconds * 1000;
}

struct results {
  load_outcome load;
  comparison loaded;
  live_outcome live;
  comparison alive;
  std::map<injury_kind, uint64_t> damage;
  repair_outcome repair;
  comparison repaired;
};

void print_table(const package_index& index, const results& r, double seconds) {
  std::vector<double> recovery = r.load.recovery_s;
  std::sort(recovery.begin(), recovery.end());
  if (recovery.empty()) recovery.push_back(0);
  const auto row = [](const std::string& name, const std::string& value) {
    fmt::print("  {:<31} {}\n", name, value);
  };
  fmt::print("\n");
  row("records", fmt::format("{}", index.stanzas.size()));
  row("bytes", fmt::format("{} ({:.1f} MiB)", index.bytes, static_cast<double>(index.bytes) / mib));
  row("loader killed (SIGKILL)", fmt::format("{} times", r.load.kills));
  row("resumed in the middle", fmt::format("{} times", r.load.resumed));
  row("completed by recovery", fmt::format("{} transactions", r.load.completed));
  row("recovery, min/median/max",
      fmt::format("{:.2f} / {:.2f} / {:.2f} ms ({} recoveries)", milliseconds(recovery.front()),
                  milliseconds(recovery[recovery.size() / 2]), milliseconds(recovery.back()),
                  r.load.recovery_s.size()));
  row("damaged under live load",
      fmt::format("{} lost pages, {} bit flips, {} scribbles in {:.1f} s", r.live.lost_pages,
                  r.live.flips, r.live.scribbles, r.live.seconds));
  row("repaired meanwhile", fmt::format("{} pages on access, {} repairs in all, {} scrubs",
                                        r.live.pages_repaired, r.live.repaired, r.live.scrubs));
  row("transactions meanwhile",
      fmt::format("{}, {} objects wrong", r.live.transactions, r.live.wrong));
  uint64_t injuries = 0;
  for (const auto& [kind, count] : r.damage) {
    row(fmt::format("damage: {}", name_of(kind)), fmt::format("{}", count));
    injuries += count;
  }
  row("damaged places repaired",
      fmt::format(
          "{} (structures repaired by opening {}, by reading {}, by check {})",
          r.repair.clean && r.repair.lost == 0 ? fmt::format("all {}", injuries) : "NOT all",
          r.repair.at_open, r.repair.by_reads, r.repair.by_check));
  row("lost", fmt::format("{}", r.live.lost + r.repair.lost));
  row("differing bytes", fmt::format("{}", r.loaded.differing_bytes + r.alive.differing_bytes +
                                               r.repaired.differing_bytes));
  row("time", fmt::format("{:.1f} s", seconds));
}

int run_demo(const arguments& args) {
  const auto began = std::chrono::steady_clock::now();
  const uint64_t seed = args.seed != 0 ? args.seed : std::random_device{}();
  std::mt19937_64 random(seed);
  status_line status;

  const package_index index = read_package_index(args.records);
  status.done("source", fmt::format("{} package descriptions from {} indexes, {:.1f} MiB",
                                    index.stanzas.size(), index.indexes,
                                    static_cast<double>(index.bytes) / mib));

  drill_options options;
  options.program = scute_command();
  options.medium = args.medium;
  options.kills = args.kills;
  options.pool_size =
      args.pool_size.empty() ? pool_size_for(index.bytes) : parse_size(args.pool_size);
  const workplace place(args.folder, args.medium, options.pool_size + 2 * index.bytes, args.keep);
  options.folder = place.folder();
  // Every commit to a disk waits for the disk: fewer, larger ones.
  options.batch = args.batch != 0 ? args.batch : place.in_memory() ? 100 : 1000;
  options.batch = std::min(options.batch, std::max<uint64_t>(1, index.stanzas.size() / 200));

  drill steps(options, index, random, status);
  steps.write_source();
  steps.create_pool();
  status.done("pool", fmt::format("{}, {:.0f} MiB, seed {}", steps.pool_path(),
                                  static_cast<double>(options.pool_size) / mib, seed));
  results r;
  r.load = steps.load_under_fire();
  status.done("load",
              fmt::format("killed {} times, resumed {} times", r.load.kills, r.load.resumed));
  r.loaded = steps.compare();
  status.done("compare", fmt::format("{} records, {} bytes differ", r.loaded.records,
                                     r.loaded.differing_bytes));
  r.live = damage_under_load(steps.pool_path(), args.live_seconds, random, status);
  status.done("live damage",
              fmt::format("{} injuries during {} transactions, {} lost, {} wrong",
                          r.live.injuries(), r.live.transactions, r.live.lost, r.live.wrong));
  r.alive = steps.compare();
  status.done("compare",
              fmt::format("{} records, {} bytes differ", r.alive.records, r.alive.differing_bytes));
  r.damage = steps.damage();
  uint64_t injuries = 0;
  for (const auto& [kind, count] : r.damage) injuries += count;
  status.done("damage", fmt::format("{} places in the closed file", injuries));
  r.repair = steps.repair();
  status.done("repair",
              r.repair.clean ? "a second check finds nothing" : "NOT everything was repaired");
  r.repaired = steps.compare();
  status.done("compare", fmt::format("{} records, {} bytes differ", r.repaired.records,
                                     r.repaired.differing_bytes));

  print_table(index, r,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  const bool good = r.loaded.differing_bytes == 0 && r.repaired.differing_bytes == 0 &&
                    r.repaired.records == index.stanzas.size() && r.repair.lost == 0 &&
                    r.repair.clean && r.alive.differing_bytes == 0 && r.live.lost == 0 &&
                    r.live.wrong == 0;
  if (!good) fmt::print("\nFAILED; to repeat: scute-demo --seed {}\n", seed);
  return good ? 0 : 1;
}

int run_pow_demo(const arguments& args) {
  const auto began = std::chrono::steady_clock::now();
  const uint64_t seed = args.seed != 0 ? args.seed : std::random_device{}();
  std::mt19937_64 random(seed);
  status_line status;
  const package_index index = read_package_index(args.records);
  status.done("source", fmt::format("{} package descriptions from {} indexes, {:.1f} MiB, seed {}",
                                    index.stanzas.size(), index.indexes,
                                    static_cast<double>(index.bytes) / mib, seed));
  pow_options options;
  options.program = scute_command();
  options.medium = args.medium;
  options.kills = args.kills;
  options.file_max =
      args.pool_size.empty() ? 3 * pool_size_for(index.bytes) : parse_size(args.pool_size);
  const workplace place(args.folder, args.medium, options.file_max + 2 * index.bytes, args.keep);
  options.folder = place.folder();
  options.batch = args.batch != 0 ? args.batch : place.in_memory() ? 100 : 1000;
  options.batch = std::min(options.batch, std::max<uint64_t>(1, index.stanzas.size() / 200));
  const pow_results r = pow_drill(options, index, random, status).run();
  const auto row = [](const std::string& name, const std::string& value) {
    fmt::print("  {:<31} {}\n", name, value);
  };
  fmt::print("\n");
  row("records", fmt::format("{}", r.records));
  row("loader killed (SIGKILL)", fmt::format("{} times", r.kills));
  row("resumed in the middle", fmt::format("{} times", r.resumed));
  row("pages overwritten", fmt::format("{}", r.pages_overwritten));
  row("damaged places repaired", fmt::format("{}", r.found));
  row("file compacted",
      fmt::format("{:.1f} MiB to {:.1f} MiB", static_cast<double>(r.size_before) / mib,
                  static_cast<double>(r.size_after) / mib));
  row("lost", fmt::format("{}", r.lost));
  row("differing bytes", fmt::format("{}", r.differing_bytes));
  row("time",
      fmt::format("{:.1f} s",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()));
  const bool good = r.differing_bytes == 0 && r.lost == 0 && r.clean && r.digests_agree &&
                    r.records == index.stanzas.size() && r.found != 0;
  if (!good) fmt::print("\nFAILED; to repeat: scute-demo --pow --seed {}\n", seed);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Loads this machine's Debian package index into a Scute pool, killing the loader on "
      "the way,\nthen damages it under live load and again when it is closed, repairs it and "
      "compares every byte.",
      "scute-demo"};
  arguments args;
  app.add_option("--medium", args.medium,
                 "file: on a disk; ram: in memory; auto: in memory if the machine has a place")
      ->check(CLI::IsMember({"auto", "file", "ram"}).description(""))
      ->type_name("auto|file|ram");
  app.add_option("--dir", args.folder, "folder for the files (default: by --medium)")
      ->type_name("DIR");
  app.add_option("--pool-size", args.pool_size,
                 "size of the pool in bytes, or with K, M, G (default: by the data)")
      ->type_name("SIZE");
  app.add_option("--kills", args.kills, "how often to kill the loader (default 20)")
      ->type_name("N");
  app.add_option("--seed", args.seed,
                 "repeat the random choices of a run (default: a random one, which is printed)")
      ->type_name("N");
  app.add_option("--records", args.records, "load at most so many records (default: all)")
      ->type_name("N");
  app.add_option("--batch", args.batch, "records per transaction (default 100, on a disk 1000)")
      ->type_name("N");
  app.add_option("--live", args.live_seconds,
                 "how long to damage the pool under load, in seconds (default 2)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86400.0).description(""));
  app.add_flag("--pow", args.pow,
               "a persist-on-write file instead of a pool (--live does not apply)");
  app.add_flag("--keep", args.keep, "keep the files at the end");
  app.footer(
      "SCUTE_EXE names the scute command to use. Exit status: 0 if every byte came back, else 1.\n"
      "\nExamples:\n"
      "  scute-demo\n"
      "  scute-demo --medium file --kills 5\n"
      "  scute-demo --pow\n"
      "  scute-demo --records 300 --keep");
  try {
    app.parse(argc, argv);
    catch_stop_requests();
    return args.pow ? run_pow_demo(args) : run_demo(args);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "scute-demo: {}\n", error.what());
  }
  return 1;
}
