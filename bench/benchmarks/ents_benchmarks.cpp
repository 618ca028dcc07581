// SPDX-License-Identifier: BSD-3-Clause
// Maps, TATP and TPC-C as the ENTS paper ran them, and whole (Figures 2 to 6). Every system is
// given the same task once; then every cell (work, threads) has its rounds, in which each system,
// in an order that rotates, runs the same requests. They are drawn before time is taken. The first
// round of a cell warms up.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/ents_match.hpp"

namespace scute::bench {
namespace {

namespace ents = workloads::ents;
namespace tatp = workloads::tatp;
namespace tpcc = workloads::tpcc;

constexpr const char* changes_work = "ents_insert_remove";
constexpr const char* reads_work = "ents_read_update";
constexpr const char* tatp_work = "ents_tatp";
constexpr const char* tpcc_work = "ents_tpcc";

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {reads_work, "half look-ups, half updates, on four locked maps"},
    {changes_work, "half insertions, half removals, on the same"},
    {tatp_work, "TATP: its mix, and update_location alone as ENTS ran it"},
    {tpcc_work, "TPC-C: New-Order and Payment, and New-Order as ENTS ran it"}};

std::vector<uint64_t> value_sizes(const options& o) {
  return o.quick || o.tiny ? std::vector<uint64_t>{8} : std::vector<uint64_t>{8, 256};
}
// Large values would take more memory than most machines have, in all systems at once.
uint64_t keys_of(const options& o, uint64_t value_size) {
  return std::max<uint64_t>(value_size == 8 ? o.keys / 2 : o.keys / 8, 20);
}

struct tatp_part {
  const char* name;
  tatp::mix mix;
  uint32_t locks;  // ENTS had one
};
constexpr tatp_part tatp_parts[] = {{"location_of_one", tatp::mix::location_of_one, 1},
                                    {"location", tatp::mix::location, 1024},
                                    {"whole", tatp::mix::whole, 1024}};
struct tpcc_part {
  const char* name;
  tpcc::part runs;
  uint32_t warehouses;
};
constexpr tpcc_part tpcc_parts[] = {{"orders", tpcc::part::orders, 1},
                                    {"whole_w1", tpcc::part::whole, 1},
                                    {"whole_w2", tpcc::part::whole, 2}};

uint32_t subscribers_of(const options& o) {
  return o.tiny ? 100 : o.quick ? 20'000 : 100'000;
}
tpcc::setup setup_of(const options& o, const tpcc_part& p) {
  const bool orders = p.runs == tpcc::part::orders;
  // ENTS took 10,000 items, the specification 100,000.
  const uint32_t items = o.tiny ? 60 : o.quick || orders ? 10'000 : 100'000;
  return {p.runs, p.warehouses, items, o.tiny ? 10U : o.quick ? 300U : 3000U, o.seed};
}
// Of each thread and round. A transaction of TPC-C is about 20 updates.
uint64_t ops_of(const options& o, bool is_tpcc) {
  return is_tpcc ? std::max(o.ops / 10, 10u) : o.ops;
}
std::vector<unsigned> threads_of(const options& o) {
  std::vector<unsigned> all = o.threads;
  std::ranges::sort(all);  // variants leave after one thread
  return all;
}
uint64_t requests_of(const options& o, bool is_tpcc) {
  uint64_t n = 0;
  for (const unsigned threads : o.threads)
    n += uint64_t{threads} * (ents_rounds(o) + 1) * ops_of(o, is_tpcc);
  return n;
}
unsigned threads_max(const options& o) {
  return *std::ranges::max_element(o.threads);
}

// A task, and the cells of one number of threads that run on it.
struct scene {
  ents::task task;
  row like;  // without work and threads
  bool is_tpcc;
  std::vector<std::string> cells;  // benchmarks
};

std::vector<scene> scenes(const options& o) {
  std::vector<scene> all;
  const auto add = [&](const ents::task& task, const std::string& structure, uint64_t size,
                       bool is_tpcc, std::initializer_list<const char*> names) {
    scene s{task, {}, is_tpcc, {}};
    s.like.structure = structure;
    s.like.size = size;
    for (const char* name : names)
      if (o.wants(name)) s.cells.emplace_back(name);
    if (!s.cells.empty() && o.wants_structure(structure)) all.push_back(s);
  };
  for (const uint64_t size : value_sizes(o))
    for (const std::string& map : ents::map_names())
      add(ents::map_task{map, size, keys_of(o, size)}, map, size, false,
          {reads_work, changes_work});
  for (const tatp_part& p : tatp_parts)
    add(tatp::setup{subscribers_of(o), p.locks, o.seed}, p.name, 128, false, {tatp_work});
  for (const tpcc_part& p : tpcc_parts) add(setup_of(o, p), p.name, 0, true, {tpcc_work});
  return all;
}

// Draws the requests of a round, those of each thread.
class planner {
 public:
  planner(const options& o, const scene& s) : o_(o), scene_(s), dice_(o.seed * 1'000'033 + 5) {
    if (const auto* const t = std::get_if<ents::map_task>(&s.task))
      keys_ = ents::key_numbers(t->keys, threads_max(o));
  }
  std::vector<ents::batch> draw(const std::string& work, unsigned threads) {
    std::vector<ents::batch> all;
    for (unsigned t = 0; t < threads; ++t) all.push_back(draw_one(work, t));
    return all;
  }

 private:
  ents::batch draw_one(const std::string& work, unsigned thread) {
    const uint64_t n = ops_of(o_, scene_.is_tpcc);
    if (const auto* const t = std::get_if<tpcc::setup>(&scene_.task))
      return tpcc::draw_all(dice_, *t, n);
    if (const auto* const t = std::get_if<tatp::setup>(&scene_.task)) {
      for (const tatp_part& p : tatp_parts)
        if (scene_.like.structure == p.name) return tatp::draw_all(dice_, p.mix, t->subscribers, n);
    }
    std::vector<ents::entry_request> all;
    all.reserve(n);
    for (uint64_t i = 0; i < n; ++i)
      all.push_back(work == reads_work ? keys_.read_or_update(dice_)
                                       : keys_.insert_or_remove(dice_, thread));
    return all;
  }

  const options& o_;
  const scene& scene_;
  workloads::dice dice_;
  ents::key_numbers keys_{1, 1};
};

unsigned steps(const options& o) {
  return static_cast<unsigned>(scenes(o).size());
}

void run(session& s) {
  for (const scene& now : scenes(s.o)) {
    const std::string title = now.cells.front() + ", " + now.like.structure;
    s.bar.step(now.like.size == 0 ? title : fmt::format("{}, {} bytes", title, now.like.size));
    ents_match match(s, now.task, requests_of(s.o, now.is_tpcc), threads_max(s.o), title);
    planner plan(s.o, now);
    for (const unsigned threads : threads_of(s.o)) {
      match.keep(threads);
      for (const std::string& work : now.cells) {
        match.begin();
        for (unsigned round = 0; round <= ents_rounds(s.o); ++round)
          match.round(round, plan.draw(work, threads), round != 0);
        row like = now.like;
        like.work = work;
        like.threads = threads;
        match.publish(like);
      }
    }
    if (s.o.tiny) match.check();
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const scene& now : scenes(o))
    for (const unsigned threads : o.threads)
      for (const std::string& work : now.cells)
        for (const ents_kind& kind : ents_kinds()) {
          if (!contends(o, kind, threads, false)) continue;
          row like = now.like;
          like.work = work;
          like.threads = threads;
          rows.push_back(ents_row(like, kind));
        }
}

}  // namespace

benchmark_group ents_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
