// SPDX-License-Identifier: BSD-3-Clause
// Where the time of a transaction goes (CodePM Fig. 11, Pangolin section 4.3): random overwrites of
// one object with the library's stage clock on (core/medium/cost_clock.hpp), one thread. Reading
// the clock takes time too: how much, is measured first and taken off each stage as often as it was
// entered. So the sum comes near the time of overwrite_random, without the program's own part.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "benchmarks/benchmarks.hpp"
#include "core/medium/cost_clock.hpp"
#include "random.hpp"
#include "systems/object_system.hpp"

namespace scute::bench {
using namespace core;
namespace {

using medium::cost_clock;
using readings = std::array<cost_clock::reading, medium::cost_parts>;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {"stages", "where the time of a random overwrite goes, by stages of the transaction"}};

bool contends(const options& o, const system_kind& k) {
  return k.system == "scute" && o.wants_system(k.name);
}

unsigned steps(const options& o) {
  return o.wants("stages") ? static_cast<unsigned>(o.sizes.size()) : 0;
}

// Ticks that entering a stage takes away from the stages around it.
double ticks_per_entry() {
  constexpr unsigned scopes = 20000;
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const uint64_t begin = cost_clock::tick();
    cost_clock::start();
    for (unsigned i = 0; i < scopes; ++i) const medium::cost_scope as(medium::cost_part::plan);
    cost_clock::stop();
    least = std::min(least, static_cast<double>(cost_clock::tick() - begin) / (2 * scopes));
  }
  return least;
}

struct contestant {
  const system_kind* kind;
  std::unique_ptr<object_system> system;
  std::array<std::vector<double>, medium::cost_parts> ns;  // of an operation, by rounds
  std::vector<double> sums;
};

void measure(contestant& c, crew& workers, std::span<const uint32_t> slots, content bytes,
             double entry, bool warm) {
  readings r{};
  uint64_t ticks = 0;
  const double ns = workers.run(1, [&](unsigned) {
    const uint64_t begin = cost_clock::tick();
    cost_clock::start();
    c.system->overwrite(slots, bytes);
    r = cost_clock::stop();
    ticks = cost_clock::tick() - begin;
  });
  if (!warm) return;
  const double scale = ns / static_cast<double>(ticks) / static_cast<double>(slots.size());
  double sum = 0;
  for (size_t s = 1; s < medium::cost_parts; ++s) {
    const double net = static_cast<double>(r[s].ticks) - entry * static_cast<double>(r[s].entered);
    c.ns[s].push_back(std::max(0.0, net * scale));
    sum += c.ns[s].back();
  }
  c.sums.push_back(sum);
}

void run_size(session& s, uint64_t size, double entry) {
  const auto objects =
      static_cast<uint32_t>(std::clamp<uint64_t>(s.o.working_set / size, 64, uint64_t{1} << 18));
  const uint32_t count = std::min(s.o.objects != 0 ? s.o.objects : objects, objects);
  const uint32_t ops = std::min(s.o.ops, count);
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const content_source contents(size, s.o.seed);
  random_source random(s.o.seed * 31 + size);
  std::vector<contestant> all;
  for (const system_kind& k : system_kinds()) {
    if (!contends(s.o, k)) continue;
    all.push_back({&k, k.make(k, s.o, {size, count, s.path(k.name)}), {}, {}});
    s.workers.run(1, [&](unsigned) { all.back().system->alloc(order, contents.of(0)); });
  }
  for (unsigned round = 0; round <= s.o.rounds; ++round) {
    shuffle_front(order, ops, random);
    for (size_t i = 0; i < all.size(); ++i)
      measure(all[(i + round) % all.size()], s.workers, {order.data(), ops}, contents.of(round + 1),
              entry, round != 0);
  }
  for (contestant& c : all) {
    row r;
    r.work = "stages";
    r.size = size;
    r.system = c.kind->system;
    r.config = c.kind->config;
    r.ops = c.sums.size() * ops;
    summarize(r, c.sums);
    for (size_t n = 1; n < medium::cost_parts; ++n) {
      std::sort(c.ns[n].begin(), c.ns[n].end());
      r.stages.emplace_back(medium::cost_part_names[n], quantile(c.ns[n], 0.5));
    }
    s.rows.push_back(r);
  }
}

void run(session& s) {
  if (!s.o.wants("stages")) return;
  const double entry = ticks_per_entry();
  for (const uint64_t size : s.o.sizes) {
    s.bar.step(fmt::format("stages of overwriting {} bytes", size));
    run_size(s, size, entry);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants("stages")) return;
  for (const uint64_t size : o.sizes)
    for (const system_kind& k : system_kinds()) {
      if (!contends(o, k)) continue;
      row r;
      r.work = "stages";
      r.size = size;
      r.system = k.system;
      r.config = k.config;
      rows.push_back(r);
    }
}

}  // namespace

benchmark_group stages_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
