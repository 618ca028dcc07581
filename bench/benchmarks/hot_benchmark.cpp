// SPDX-License-Identifier: BSD-3-Clause
// A few objects, overwritten again and again: where an engine that puts work off could look better
// than it is. So besides the time that the writing thread takes there is the processor time of the
// whole process: what a thread in the background does for these transactions, and what is still put
// off at the end of a batch, are part of it.
//
// A batch is more than ten turns of a speculative log, and ten batches come before the first that
// counts.
#include <fmt/format.h>

#include <ctime>
#include <numeric>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/object_system.hpp"
#include "systems/pmemobj_huge.hpp"

namespace scute::bench {
namespace {

constexpr const char* wall = "overwrite_hot";
constexpr const char* processor = "overwrite_hot_cpu";
constexpr uint32_t hot_objects = 1024;
constexpr unsigned warm_rounds = 10;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {wall, "overwrite one of 1024 objects, again and again"},
    {processor, "the same: processor time of all threads, with deferred work"}};

bool contends(const options& o, const system_kind& k) {
  return o.wants_system(k.name) && (k.name != pmemobj_huge || grants_huge_pages(o.dir));
}
bool wanted(const options& o) {
  return o.wants(wall) || o.wants(processor);
}
unsigned rounds_of(const options& o) {
  return (o.rounds + 1) / 2;
}
// At 256 bytes and more eleven turns or more of the 4 MiB that the log of such a pool has.
uint32_t ops_of(const options& o) {
  return o.tiny ? 2 * hot_objects : o.quick ? 40'000 : 150'000;
}

uint64_t process_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

row row_of(const char* work, uint64_t size, const system_kind& k) {
  row r;
  r.work = work;
  r.size = size;
  r.system = k.system;
  r.config = k.config;
  return r;
}

struct contestant {
  const system_kind* kind;
  std::unique_ptr<object_system> system;
  std::vector<double> ns, cpu_ns;
  costs spent;
  bool counts = false;
};

void play(session& s, contestant& c, std::span<const uint32_t> slots, content bytes, bool counted) {
  costs before, after;
  c.system->drain();
  c.counts = c.system->count(before);
  const uint64_t begin = process_ns();
  const double ns = s.workers.run(1, [&](unsigned) { c.system->overwrite(slots, bytes); });
  c.system->drain();
  const auto cpu = static_cast<double>(process_ns() - begin);
  c.system->count(after);
  if (!counted) return;
  c.ns.push_back(ns / static_cast<double>(slots.size()));
  c.cpu_ns.push_back(cpu / static_cast<double>(slots.size()));
  c.spent.add(after).add(before, -1);
}

void publish(session& s, const contestant& c, uint64_t size, uint64_t ops) {
  for (const bool cpu : {false, true}) {
    if (!s.o.wants(cpu ? processor : wall)) continue;
    row r = row_of(cpu ? processor : wall, size, *c.kind);
    r.ops = c.ns.size() * ops;
    if (c.counts) r.per_op = costs{}.add(c.spent, 1 / static_cast<double>(r.ops));
    summarize(r, cpu ? c.cpu_ns : c.ns);
    s.rows.push_back(r);
  }
}

void run_size(session& s, uint64_t size) {
  const uint32_t ops = ops_of(s.o);
  const content_source contents(size, s.o.seed);
  random_source random(s.o.seed * 131 + size);
  std::vector<uint32_t> all(hot_objects), slots(ops);
  std::iota(all.begin(), all.end(), 0);
  std::vector<contestant> contestants;
  for (const system_kind& k : system_kinds()) {
    if (!contends(s.o, k)) continue;
    try {
      contestants.push_back(
          {&k, k.make(k, s.o, {size, hot_objects, s.path(k.name)}), {}, {}, {}, false});
    } catch (const no_huge_pages& e) {
      fmt::print(stderr, "scute-bench: {}, {} is left out: {}\n", wall, k.name, e.what());
      continue;
    }
    s.workers.run(1, [&](unsigned) { contestants.back().system->alloc(all, contents.of(0)); });
  }
  const unsigned warm = s.o.tiny ? 1 : s.o.quick ? 4 : warm_rounds;
  for (unsigned round = 0; round < warm + rounds_of(s.o); ++round) {
    for (uint32_t& slot : slots) slot = static_cast<uint32_t>(random.below(hot_objects));
    for (size_t i = 0; i < contestants.size(); ++i)
      play(s, contestants[(i + round) % contestants.size()], slots, contents.of(round + 1),
           round >= warm);
  }
  for (const contestant& c : contestants) publish(s, c, size, ops);
}

unsigned steps(const options& o) {
  return wanted(o) ? static_cast<unsigned>(o.sizes.size()) : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  for (const uint64_t size : s.o.sizes) {
    s.bar.step(fmt::format("hot objects of {} bytes", size));
    run_size(s, size);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const auto& w : benchmarks)
    if (o.wants(w.first))
      for (const uint64_t size : o.sizes)
        for (const system_kind& k : system_kinds())
          if (contends(o, k)) rows.push_back(row_of(w.first.c_str(), size, k));
}

}  // namespace

benchmark_group hot_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
