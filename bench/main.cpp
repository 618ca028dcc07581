// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "benchmarks/benchmarks.hpp"
#include "options.hpp"
#include "results/results.hpp"
#include "systems/ents_system.hpp"
#include "systems/kv_system.hpp"
#include "systems/map_system.hpp"
#include "systems/object_system.hpp"
#include "systems/stamp_system.hpp"

using namespace scute::bench;

namespace {

void list() {
  fmt::print("Works (--filter)\n");
  for (const benchmark_group& g : benchmark_groups())
    for (const auto& [name, about] : g.benchmarks) fmt::print("  {:<22}{}\n", name, about);
  fmt::print("\nSystems (--systems)\n");
  for (const system_kind& k : system_kinds()) fmt::print("  {:<22}{}\n", k.name, k.about);
  for (const kv_kind& k : kv_kinds())
    if (k.system != "scute") fmt::print("  {:<22}{}\n", k.name, k.about);
  for (const stamp_kind& k : stamp_kinds())
    if (!k.about.empty()) fmt::print("  {:<22}{}\n", k.name, k.about);
  for (const ents_kind& k : ents_kinds())
    if (!k.about.empty()) fmt::print("  {:<22}{}\n", k.name, k.about);
  fmt::print("\nMaps (--structures)\n ");
  for (const std::string& structure : map_structures()) fmt::print(" {}", structure);
  fmt::print("\n");
}

// Removes the files of runs that were killed: session::path() names files by process.
void remove_stale(const std::string& dir) {
  const std::string prefix = "scute-bench.";
  std::error_code ec;
  std::vector<std::filesystem::path> stale;
  for (const auto& entry : std::filesystem::directory_iterator(dir, ec)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) != 0) continue;
    const long pid = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    if (pid > 0 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
      stale.push_back(entry.path());
  }
  for (const auto& path : stale) std::filesystem::remove_all(path, ec);
}

int run(const options& o, int argc, char** argv) {
  unsigned steps = 0;
  for (const benchmark_group& g : benchmark_groups()) steps += g.steps(o);
  if (steps == 0) {
    fmt::print(stderr, "scute-bench: no workload matches --filter; see scute-bench --list\n");
    return 2;
  }
  remove_stale(o.dir);
  remove_stale(o.disk_dir);
  std::vector<row> rows;
  {
    progress bar(steps);
    crew workers(*std::max_element(o.threads.begin(), o.threads.end()), o.clock);
    session s{o, workers, bar, rows};
    for (const benchmark_group& g : benchmark_groups()) g.run(s);
  }
  publish(o, rows, argc, argv);
  return o.tiny ? verify(o, rows) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  int exit_code = 0;
  if (!parse(argc, argv, o, exit_code)) return exit_code;
  if (o.list) {
    list();
    return 0;
  }
  // libpmem reads it at its first use. Without it every fence of libpmemobj on tmpfs would be an
  // msync: not what it does on persistent memory, and not what Scute does on tmpfs.
  if (cpu_persists(o.dir)) ::setenv("PMEM_IS_PMEM_FORCE", "1", 0);
  try {
    return run(o, argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "scute-bench: {}\n", e.what());
    return 1;
  }
}
