// SPDX-License-Identifier: BSD-3-Clause
// STAMP over the cap of the speculative log (after SpecPMT Fig. 15, which varies the size of
// epochs): the less room for the log, the more often it is checkpointed. Every application runs on
// one thread, with every cap in turn; the cap, as a part of the pool, is what the configuration is
// called by.
#include <fmt/format.h>

#include <numeric>

#include "benchmarks/benchmarks.hpp"
#include "systems/stamp_system.hpp"

namespace scute::bench {
namespace {

namespace stamp = workloads::stamp;

constexpr const char* cap_work = "stamp_cap";
constexpr const char* system_name = "spec-none";
constexpr uint64_t caps[] = {2, 5, 10, 20};  // percent of the pool

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {cap_work, "STAMP's applications over the cap of the speculative log"}};

const stamp_kind& kind() {
  for (const stamp_kind& k : stamp_kinds())
    if (k.name == system_name) return k;
  throw std::logic_error("no system with a speculative log");
}

bool wanted(const options& o) {
  return o.wants(cap_work) && o.wants_system(system_name);
}
stamp::scale scale_of(const options& o) {
  return o.tiny ? stamp::scale::tiny : o.quick ? stamp::scale::quick : stamp::scale::full;
}

row row_of(const stamp::application& a, uint64_t cap) {
  row r;
  r.work = cap_work;
  r.structure = a.name;
  r.system = kind().system;
  r.config = fmt::format("cap-{}-percent", cap);
  return r;
}

struct contestant {
  uint64_t cap;
  std::vector<double> samples;
  uint64_t transactions = 0;
  costs spent;
};

void play(session& s, const stamp::any_input& input, contestant& c, bool check) {
  const uint64_t size = stamp_pool_size(s.o);
  const auto system =
      kind().make(kind(), {input, 1, s.path(system_name), size, size / 100 * c.cap});
  system->drain();
  costs before, after;
  system->count(before);
  uint64_t done = 0;
  const double ns = s.workers.run(1, [&](unsigned) { done = system->run(0); });
  system->drain();
  system->count(after);
  if (const std::string wrong = check ? system->check() : ""; !wrong.empty())
    throw std::runtime_error(std::string(system_name) + ": " + wrong);
  c.samples.push_back(ns / static_cast<double>(done));
  c.transactions += done;
  c.spent.add(after).add(before, -1);
}

void run_application(session& s, const stamp::application& a) {
  const stamp::any_input input = stamp::make_input(a.name, scale_of(s.o), 1, s.o.seed);
  std::vector<contestant> contestants;
  for (const uint64_t cap : caps) contestants.push_back({cap, {}, 0, {}});
  for (unsigned round = 0; round < s.o.map_rounds; ++round)
    for (size_t i = 0; i < contestants.size(); ++i)
      play(s, input, contestants[(i + round) % contestants.size()], round == 0);
  for (const contestant& c : contestants) {
    row r = row_of(a, c.cap);
    r.ops = c.transactions;
    summarize(r, c.samples);
    r.per_op = costs{}.add(c.spent, 1 / static_cast<double>(r.ops));
    s.rows.push_back(r);
  }
}

unsigned steps(const options& o) {
  return wanted(o) ? static_cast<unsigned>(stamp::applications().size()) : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  for (const stamp::application& a : stamp::applications()) {
    s.bar.step(fmt::format("STAMP over the log's cap, {}", a.name));
    run_application(s, a);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!wanted(o)) return;
  for (const stamp::application& a : stamp::applications())
    for (const uint64_t cap : caps) rows.push_back(row_of(a, cap));
}

}  // namespace

benchmark_group stamp_cap_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
