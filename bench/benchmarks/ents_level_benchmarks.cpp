// SPDX-License-Identifier: BSD-3-Clause
// Level hashing under YCSB over the load factor (ENTS Figure 7). A table is filled step by step, in
// all systems alike and slice by slice. At each step look-ups and updates of present entries run in
// rounds: half of each, or 95 % look-ups, zipfian or uniform. One thread. No table grows: it holds
// more than 90 %.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/ents_match.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {
namespace {

namespace ents = workloads::ents;
namespace ycsb = workloads::ycsb;

constexpr const char* insert_work = "ents_level_insert";
constexpr const char* half_work = "ents_level_50";
constexpr const char* most_work = "ents_level_95";

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {insert_work, "insert into level hashing, which fills"},
    {half_work, "YCSB on level hashing: half look-ups, half updates"},
    {most_work, "the same, 95 % look-ups"}};

constexpr ycsb::distribution distributions[] = {ycsb::distribution::zipfian,
                                                ycsb::distribution::uniform};

// Load factors in per cent.
std::vector<unsigned> loads(const options& o) {
  if (o.quick || o.tiny) return {20, 60, 90};
  return {20, 30, 40, 50, 60, 70, 80, 90};
}
unsigned bits_of(const options& o) {
  unsigned bits = 4;
  while ((uint64_t{6} << bits) < o.keys) ++bits;
  return bits;
}
uint64_t entries_of(const options& o, unsigned load) {
  return (uint64_t{24} << bits_of(o)) / 4 * load / 100;
}
uint64_t requests_of(const options& o) {
  return entries_of(o, 100) + loads(o).size() * 4 * (ents_rounds(o) + 1) * o.ops;
}
bool wanted(const options& o) {
  return o.wants(insert_work) || o.wants(half_work) || o.wants(most_work);
}

row row_of(const char* work, unsigned load, const char* distribution) {
  row r;
  r.work = work;
  r.structure = fmt::format("load_{}", load);
  r.distribution = distribution;
  r.size = 31;
  return r;
}
const char* name_of(ycsb::distribution d) {
  return d == ycsb::distribution::zipfian ? "zipfian" : "uniform";
}

class filling {
 public:
  explicit filling(session& s)
      : s_(s),
        dice_(s.o.seed * 1'000'211 + 3),
        match_(s, ents::level_task{bits_of(s.o)}, requests_of(s.o), 1, "level hashing") {}

  void to(unsigned load) {
    insert(load);
    const ycsb::zipfian popular(entries_);
    for (const char* work : {half_work, most_work})
      for (const ycsb::distribution how : distributions) {
        if (!s_.o.wants(work)) continue;
        match_.begin();
        for (unsigned round = 0; round <= ents_rounds(s_.o); ++round)
          match_.round(round, {draw(work == half_work ? 50 : 95, how, popular)}, round != 0);
        match_.publish(row_of(work, load, name_of(how)));
      }
    if (s_.o.tiny) match_.check();
  }

 private:
  // The last step's entries are cut into as many slices as there are rounds.
  void insert(unsigned load) {
    const uint64_t from = entries_, end = entries_of(s_.o, load);
    const uint64_t slices = std::min<uint64_t>(ents_rounds(s_.o), end - from);
    match_.begin();
    for (unsigned slice = 0; slice < slices; ++slice) {
      std::vector<ents::entry_request> all;
      for (const uint64_t to = from + (end - from) * (slice + 1) / slices; entries_ < to;
           ++entries_)
        all.push_back({ents::action::insert, entries_, dice_.next()});
      match_.round(slice, {std::move(all)}, true);
    }
    if (s_.o.wants(insert_work)) match_.publish(row_of(insert_work, load, ""));
  }
  ents::batch draw(unsigned reads, ycsb::distribution how, const ycsb::zipfian& popular) {
    std::vector<ents::entry_request> all;
    all.reserve(s_.o.ops);
    for (uint32_t i = 0; i < s_.o.ops; ++i) {
      const auto u = static_cast<double>(dice_.next() >> 11) * 0x1p-53;
      const uint64_t number = how == ycsb::distribution::uniform
                                  ? dice_.below(entries_)
                                  : ycsb::key_of(popular.rank(u)) % entries_;
      all.push_back(
          {dice_.percent(reads) ? ents::action::read : ents::action::update, number, dice_.next()});
    }
    return all;
  }

  session& s_;
  workloads::dice dice_;
  ents_match match_;
  uint64_t entries_ = 0;
};

unsigned steps(const options& o) {
  return wanted(o) ? static_cast<unsigned>(loads(o).size()) : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  filling f(s);
  for (const unsigned load : loads(s.o)) {
    s.bar.step(fmt::format("level hashing, load factor {}.{}", load / 100, load / 10 % 10));
    f.to(load);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const unsigned load : loads(o))
    for (const ents_kind& kind : ents_kinds()) {
      if (!contends(o, kind, 1, true)) continue;
      if (o.wants(insert_work)) rows.push_back(ents_row(row_of(insert_work, load, ""), kind));
      for (const char* work : {half_work, most_work})
        for (const ycsb::distribution how : distributions)
          if (o.wants(work)) rows.push_back(ents_row(row_of(work, load, name_of(how)), kind));
    }
}

}  // namespace

benchmark_group ents_level_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
