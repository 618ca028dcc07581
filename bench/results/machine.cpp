// SPDX-License-Identifier: BSD-3-Clause
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/medium/persist.hpp"
#include "results/results.hpp"
#include "scute/scute.h"
#include "systems/file_system.hpp"
#include "systems/object_system.hpp"

namespace scute::bench {
using namespace core;
namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

std::string describe_machine(const options& o, int argc, char** argv) {
  utsname u{};
  ::uname(&u);
  std::string command = "scute-bench";
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  nlohmann::ordered_json j;
  j["processor"] = processor();
  j["cpus"] = usable_cpus().size();
  j["memory_bytes"] = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  j["kernel"] = std::string(u.sysname) + " " + u.release + " " + u.machine;
  j["dir"] = o.dir;
  j["medium"] = file_system_of(o.dir);
  j["disk_dir"] = o.disk_dir;
  j["disk_medium"] = file_system_of(o.disk_dir);
  j["flush"] = cpu_persists(o.dir) ? medium::persist().flush_name : "msync";
  j["scute"] = scute_version();
  j["clock"] = o.clock == clock_kind::cpu ? "CPU time of the threads" : "wall";
  j["rounds"] = o.rounds;
  j["ops"] = o.ops;
  j["keys"] = o.keys;
  j["map_rounds"] = o.map_rounds;
  j["records"] = o.records;
  j["seed"] = o.seed;
  j["command"] = command;
  return j.dump(2) + "\n";
}

}  // namespace scute::bench
