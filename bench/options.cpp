// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

#include "systems/ents_system.hpp"
#include "systems/kv_system.hpp"
#include "systems/map_system.hpp"
#include "systems/object_system.hpp"
#include "systems/stamp_system.hpp"

namespace scute::bench {
namespace {

constexpr const char* footer = R"(
Examples
  scute-bench --quick                            everything, in a few minutes
  scute-bench --filter overwrite --sizes 64,256  two workloads at two sizes
  scute-bench --systems redo-mlpc,libpmemobj     one against the other
  scute-bench --filter parity,medium             the kernels' thresholds on this machine
  scute-bench --quick --json rows.jsonl --machine machine.json
                                                 what ./dev bench makes its report from
  scute-bench --dir /mnt/pmem                    on another file system
  scute-bench --list                             the available workloads and systems

Results go to standard output, progress to standard error. Times are medians over the rounds.
Exit status: 0 success; 1 something failed; 2 wrong usage.)";

// "64K" and the like; powers of 1024.
const auto bytes = CLI::AsSizeValue(false);

void one_of(const char* what, const std::vector<std::string>& given,
            const std::vector<std::string>& known) {
  for (const std::string& name : given)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string all;
      for (const std::string& k : known) all += " " + k;
      throw CLI::ValidationError(std::string("there is no ") + what + " '" + name +
                                 "'; there are:" + all);
    }
}

void check(options& o) {
  if (o.sizes.empty() || o.threads.empty())
    throw CLI::ValidationError("--sizes and --threads need a value each");
  std::vector<std::string> systems;
  for (const auto& k : system_kinds()) systems.push_back(k.name);
  for (const auto& k : kv_kinds())
    if (std::find(systems.begin(), systems.end(), k.name) == systems.end())
      systems.push_back(k.name);
  for (const auto& k : stamp_kinds())
    if (std::find(systems.begin(), systems.end(), k.name) == systems.end())
      systems.push_back(k.name);
  for (const auto& k : ents_kinds())
    if (std::find(systems.begin(), systems.end(), k.name) == systems.end())
      systems.push_back(k.name);
  one_of("system", o.systems, systems);
  std::vector<std::string> structures = map_structures();
  structures.insert(structures.end(), {"bplus_tree", "location_of_one", "location", "whole",
                                       "orders", "whole_w1", "whole_w2"});
  one_of("structure", o.structures, structures);
  std::error_code ec;
  for (const auto& [option, dir] : {std::pair{"--dir", o.dir}, {"--disk-dir", o.disk_dir}})
    if (!std::filesystem::is_directory(dir, ec))
      throw CLI::ValidationError(std::string(option) + " " + dir + " is no folder");
}

}  // namespace

bool options::wants(const std::string& work) const {
  return filter.empty() || std::any_of(filter.begin(), filter.end(), [&](const std::string& f) {
           return work.find(f) != std::string::npos;
         });
}

bool options::wants_system(const std::string& name) const {
  return systems.empty() || std::find(systems.begin(), systems.end(), name) != systems.end();
}

bool options::wants_structure(const std::string& name) const {
  return structures.empty() ||
         std::find(structures.begin(), structures.end(), name) != structures.end();
}

bool parse(int argc, char** argv, options& o, int& exit_code) {
  CLI::App app{
      "Measures Scute side by side with its peers: every system does the same work in the same\n"
      "run, taking turns, and the table gives the ratios. See docs/benchmarks.md."};
  app.footer(footer);
  app.name("scute-bench");
  bool cpu_clock = false;
  std::vector<std::string> sizes;
  auto* tiny =
      app.add_flag("--tiny", o.tiny, "Run for seconds, to see that everything runs; for tests");
  auto* quick = app.add_flag("--quick", o.quick, "Run for a few minutes, with fewer rounds");
  tiny->excludes(quick);
  app.add_flag("--list", o.list, "Print the workloads and the systems, and end");
  app.add_option("--filter", o.filter,
                 "Run only workloads whose name contains one of these (default: all)")
      ->delimiter(',');
  app.add_option("--systems", o.systems,
                 "Run only these systems (--list says which need to be named)")
      ->delimiter(',');
  app.add_option("--sizes", o.sizes, "Sizes of objects in bytes; 64K is allowed")
      ->delimiter(',')
      ->transform(bytes)
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 26))
      ->default_str("64,256,1024,4096");
  app.add_option("--threads", o.threads, "Numbers of threads")
      ->delimiter(',')
      ->check(CLI::Range(1u, 64u))
      ->default_str("1,2");
  auto* rounds = app.add_option("--rounds", o.rounds, "Rounds to take the median of")
                     ->check(CLI::Range(1u, 100000u))
                     ->capture_default_str();
  auto* ops = app.add_option("--ops", o.ops, "Transactions per round and thread")
                  ->check(CLI::Range(1u, 10000000u))
                  ->capture_default_str();
  app.add_option("--objects", o.objects, "Objects per thread (default: by --working-set)")
      ->check(CLI::Range(1u, 100000000u));
  auto* working_set = app.add_option("--working-set", o.working_set,
                                     "Bytes of objects per system, at most 262144 objects")
                          ->transform(bytes)
                          ->default_str("64M");
  auto* keys = app.add_option("--keys", o.keys, "Keys of a map (rtree: a tenth of them)")
                   ->check(CLI::Range(uint64_t{20}, uint64_t{1} << 30))
                   ->capture_default_str();
  auto* map_rounds = app.add_option("--map-rounds", o.map_rounds, "Times that each map is built")
                         ->check(CLI::Range(1u, 1000u))
                         ->capture_default_str();
  app.add_option("--structures", o.structures, "Run only these maps (default: all)")
      ->delimiter(',');
  auto* records = app.add_option("--records", o.records, "Records of YCSB")
                      ->check(CLI::Range(uint64_t{100}, uint64_t{1} << 30))
                      ->capture_default_str();
  auto* disk_seconds =
      app.add_option("--disk-seconds", o.disk_seconds, "Seconds of a round on the disk, per system")
          ->check(CLI::Range(0.001, 3600.0))
          ->capture_default_str();
  app.add_option("--dir", o.dir, "Folder for the pools")->capture_default_str();
  app.add_option("--disk-dir", o.disk_dir, "Folder for the workloads on a disk")
      ->capture_default_str();
  app.add_option("--seed", o.seed, "Seed of the access sequences")->capture_default_str();
  app.add_flag("--cpu-clock", cpu_clock,
               "Measure the threads' CPU time: on a busy machine less noisy, but blind to waiting");
  app.add_option("--json", o.json, "Write one JSON object per row to this file");
  app.add_option("--markdown", o.markdown, "Write the tables as Markdown to this file");
  app.add_option("--machine", o.machine,
                 "Write a description of machine and measurement as JSON to this file");
  try {
    app.parse(argc, argv);
    check(o);
  } catch (const CLI::ParseError& e) {
    const bool ok = e.get_exit_code() == 0;
    app.exit(e);
    exit_code = ok ? 0 : 2;
    return false;
  }
  if (cpu_clock) o.clock = clock_kind::cpu;
  const auto unless_given = [](const CLI::Option* option, auto& value, auto other) {
    if (option->count() == 0) value = other;
  };
  if (o.quick) {
    unless_given(rounds, o.rounds, 15u);
    unless_given(ops, o.ops, 10000u);
    unless_given(working_set, o.working_set, uint64_t{32} << 20);
    unless_given(keys, o.keys, uint64_t{100'000});
    unless_given(records, o.records, uint64_t{100'000});
    unless_given(disk_seconds, o.disk_seconds, 0.3);
    o.check_size = uint64_t{64} << 20;
    o.scrub_size = uint64_t{256} << 20;
  }
  if (o.tiny) {
    unless_given(rounds, o.rounds, 3u);
    unless_given(ops, o.ops, 100u);
    unless_given(keys, o.keys, uint64_t{200});
    unless_given(map_rounds, o.map_rounds, 1u);
    unless_given(records, o.records, uint64_t{500});
    unless_given(disk_seconds, o.disk_seconds, 0.02);
    if (o.objects == 0) o.objects = 100;
    o.check_size = uint64_t{2} << 20;
    o.scrub_size = uint64_t{16} << 20;
    o.open_size = uint64_t{64} << 20;
  }
  return true;
}

}  // namespace scute::bench
