// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "medium/persist.hpp"
#include "report/report.hpp"
#include "scute/scute.h"
#include "systems/object_system.hpp"

namespace scute::bench {
namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

std::string describe(const options& o, int argc, char** argv) {
  utsname u{};
  ::uname(&u);
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::string command = "scute-bench";
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  std::string out;
  const auto add = [&](const char* what, const std::string& value) {
    out += fmt::format("| {} | {} |\n", what, value);
  };
  out += "| | |\n| --- | --- |\n";
  add("processor", fmt::format("{}, {} usable", processor(), usable_cpus().size()));
  add("memory", fmt::format("{:.1f} GiB", memory / (1 << 30)));
  add("kernel", fmt::format("{} {} {}", u.sysname, u.release, u.machine));
  add("pools in", o.dir);
  add("made durable by", cpu_persists(o.dir) ? medium::persist().flush_name : "msync");
  add("scute", scute_version());
  add("clock", o.clock == clock_kind::cpu ? "CPU time of the threads" : "wall");
  add("rounds", fmt::format("{}; medians, ± half the interquartile range", o.rounds));
  add("seed", fmt::format("{}", o.seed));
  add("command", "`" + command + "`");
  return out;
}

}  // namespace scute::bench
