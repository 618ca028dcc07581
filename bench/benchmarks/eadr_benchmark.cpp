// SPDX-License-Identifier: BSD-3-Clause
// The costs that persistent caches (eADR) would spare: ENTS's Figure 3. Emulated as there, by
// PMEM_NO_FLUSH=1 in the environment, which libpmemobj reads when it is loaded: so each side is a
// process of its own. The floors of this program leave their write-backs out as well. Scute does
// not know the variable. Persist-on-write files have non-temporal stores and no write-back to leave
// out (except with `later`).
//
// Processes of both kinds take turns, and run ENTS's workloads with one thread and those systems.
// A row is the median of the processes' medians; the name of a system without write-backs ends in
// "-eadr".
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "benchmarks/pow_benchmarks.hpp"
#include "results/results.hpp"
#include "systems/ents_system.hpp"

namespace scute::bench {
namespace {

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {"eadr_read_update",
     "ents_read_update with and without write-backs, in processes of their own"},
    {"eadr_tatp", "ents_tatp, likewise"},
    {"eadr_tpcc", "ents_tpcc, likewise"},
    {"eadr_level_50", "ents_level_50, likewise"},
    {"eadr_level_95", "ents_level_95, likewise"}};

constexpr const char* systems[] = {"libpmemobj", "level-in-place", "raw-pow-cached", "raw-pow",
                                   "volatile"};
constexpr const char* variable = "PMEM_NO_FLUSH";
// As with --quick: there are many processes.
constexpr uint32_t ops_max = 10'000;
constexpr uint64_t keys_max = 100'000;

std::string inner(const std::string& work) {
  return "ents" + work.substr(work.find('_'));
}

// Not with --quick, and not in a process that was started so, unless --filter names them.
std::vector<std::string> wanted(const options& o) {
  std::vector<std::string> all;
  if (o.quick && o.filter.empty()) return all;
  for (const auto& [name, about] : benchmarks)
    if (o.wants(name)) all.push_back(name);
  return all;
}
std::vector<std::string> contestants(const options& o) {
  std::vector<std::string> all;
  for (const ents_kind& k : ents_kinds())
    for (const char* name : systems)
      if (k.name == name && o.wants_system(name)) all.push_back(name);
  return all;
}
// Of each kind.
unsigned processes(const options& o) {
  return o.tiny ? 1 : o.quick ? 3 : 5;
}

// Runs this program again. Returns the rows.
std::vector<row> run_apart(session& s, bool flushes) {
  const std::string results = s.path("eadr.jsonl");
  std::string filter, names;
  for (const std::string& work : wanted(s.o)) filter += (filter.empty() ? "" : ",") + inner(work);
  for (const std::string& name : contestants(s.o)) names += (names.empty() ? "" : ",") + name;
  std::vector<std::string> words{"scute-bench",
                                 "--filter",
                                 filter,
                                 "--systems",
                                 names,
                                 "--threads",
                                 "1",
                                 "--dir",
                                 s.o.dir,
                                 "--disk-dir",
                                 s.o.disk_dir,
                                 "--json",
                                 results,
                                 "--seed",
                                 std::to_string(s.o.seed),
                                 "--rounds",
                                 std::to_string(s.o.tiny ? 1 : 5),
                                 "--ops",
                                 std::to_string(std::min(s.o.ops, ops_max)),
                                 "--keys",
                                 std::to_string(std::min(s.o.keys, keys_max))};
  words.push_back(s.o.tiny ? "--tiny" : "--quick");
  if (s.o.clock == clock_kind::cpu) words.push_back("--cpu-clock");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    if (flushes)
      ::unsetenv(variable);
    else
      ::setenv(variable, "1", 1);
    if (std::freopen("/dev/null", "w", stdout) != nullptr)
      ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::ifstream in(results);
  std::stringstream text;
  text << in.rdbuf();
  ::unlink(results.c_str());
  if (status != 0) throw std::runtime_error("the process that was to measure ended with an error");
  return from_json(text.str());
}

row row_of(const row& from, bool flushes) {
  row r;
  r.work = "eadr" + from.work.substr(from.work.find('_'));
  r.structure = from.structure;
  r.distribution = from.distribution;
  r.size = from.size;
  r.threads = from.threads;
  r.system = from.system + (flushes ? "" : "-eadr");
  r.config = from.config;
  return r;
}

struct found {
  row r;
  std::vector<double> samples;
};

void run(session& s) {
  if (wanted(s.o).empty() || contestants(s.o).empty()) return;
  std::vector<found> all;
  for (unsigned n = 0; n < 2 * processes(s.o); ++n) {
    const bool flushes = n % 2 == 0;
    s.bar.step(fmt::format("benchmarks of ENTS, {} write-backs", flushes ? "with" : "without"));
    for (const row& from : run_apart(s, flushes)) {
      const row r = row_of(from, flushes);
      auto at = std::find_if(all.begin(), all.end(), [&](const found& f) {
        return f.r.same_case(r) && f.r.system == r.system;
      });
      if (at == all.end()) at = all.insert(all.end(), {r, {}});
      at->r.ops += from.ops;
      at->samples.push_back(from.ns_per_op);
    }
  }
  for (found& f : all) {
    summarize(f.r, f.samples);
    s.rows.push_back(f.r);
  }
}

unsigned steps(const options& o) {
  return wanted(o).empty() || contestants(o).empty() ? 0 : 2 * processes(o);
}

// Appends the rows that the processes will report: those that ENTS's workloads would report.
void expected(const options& o, std::vector<row>& rows) {
  options apart = o;
  apart.threads = {1};
  apart.filter.clear();
  apart.systems = contestants(o);
  for (const std::string& work : wanted(o)) apart.filter.push_back(inner(work));
  if (apart.filter.empty() || apart.systems.empty()) return;
  std::vector<row> those;
  ents_benchmarks().expected(apart, those);
  ents_level_benchmarks().expected(apart, those);
  for (const bool flushes : {true, false})
    for (const row& r : those) rows.push_back(row_of(r, flushes));
}

}  // namespace

benchmark_group eadr_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
