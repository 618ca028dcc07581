// SPDX-License-Identifier: BSD-3-Clause
// YCSB A to F on the hash map (CodePM Fig. 12-13).
//
// For each size of values every system is loaded with the same records once; then every cell
// (threads, distribution, workload) has its rounds, in which each system, in an order that rotates,
// runs the same operations. They are drawn before time is taken. The first round of a cell warms
// up. The records that D and E insert stay: the next cells have them too, in every system.
#include <fmt/format.h>

#include <numeric>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/object_system.hpp"
#include "systems/pmemobj_huge.hpp"
#include "systems/record_system.hpp"

namespace scute::bench {
namespace {

namespace ycsb = workloads::ycsb;

constexpr uint64_t value_sizes[] = {100, 256};
constexpr const char* mixes = "abcfde";  // YCSB's order: what inserts comes last
constexpr ycsb::distribution distributions[] = {ycsb::distribution::zipfian,
                                                ycsb::distribution::uniform};

// Operations of different threads and rounds write different contents.
constexpr uint64_t ops_of_round_max = 1 << 24;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {"ycsb_a", "half reads, half updates, on the hash map"},
    {"ycsb_b", "95 % reads, 5 % updates"},
    {"ycsb_c", "reads"},
    {"ycsb_d", "95 % reads of the latest records, 5 % inserts"},
    {"ycsb_e", "95 % scans of up to 100 records, 5 % inserts"},
    {"ycsb_f", "half reads, half read-modify-writes"}};

std::string work_of(char mix) {
  return std::string("ycsb_") + mix;
}
const char* name_of(ycsb::distribution d) {
  return d == ycsb::distribution::zipfian ? "zipfian" : "uniform";
}

bool contends(const options& o, const system_kind& k) {
  if (k.name == pmemobj_huge) return !o.quick && o.wants_system(k.name) && grants_huge_pages(o.dir);
  for (const char* name : {"redo-none", "redo-mlpc", "logfree-mlpc", "spec-mlpc", "plain-mlpc",
                           "libpmemobj", "volatile"})
    if (k.name == name) return o.wants_system(k.name) && !(o.quick && k.name == "plain-mlpc");
  return false;
}

bool wanted(const options& o) {
  for (const auto& w : benchmarks)
    if (o.wants(w.first)) return true;
  return false;
}

// There are many cells: half of the rounds have to do.
unsigned rounds_of(const options& o) {
  return (o.rounds + 1) / 2;
}
// Per thread. A scan reads 50 records.
uint64_t ops_of(const options& o, char mix) {
  return mix == 'e' ? std::max(o.ops / 20, 10u) : o.ops;
}

// All that are inserted in a run, from above: one in 20 operations of two workloads, and a margin
// for chance.
uint64_t records_max(const options& o) {
  uint64_t ops = 0;
  for (const unsigned threads : o.threads)
    ops += uint64_t{threads} * (rounds_of(o) + 1) * std::size(distributions) *
           (ops_of(o, 'd') + ops_of(o, 'e'));
  return o.records + ops / 16 + 1000;
}

std::unique_ptr<record_system> make(const system_kind& kind, const record_population& p) {
  if (kind.system == "scute") return make_scute_records(p);
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
  if (kind.system == "libpmemobj" || kind.system == pmemobj_huge)
    return make_pmemobj_records(p, kind.system == pmemobj_huge);
#endif
  return make_volatile_records(p);
}

row row_of(char mix, ycsb::distribution how, uint64_t size, unsigned threads,
           const system_kind& kind) {
  row r;
  r.work = work_of(mix);
  r.distribution = name_of(how);
  r.size = size;
  r.threads = threads;
  r.system = kind.system;
  r.config = kind.config;
  return r;
}

uint64_t records_of(std::span<const ycsb::operation> batch) {
  return std::accumulate(batch.begin(), batch.end(), uint64_t{0},
                         [](uint64_t n, const ycsb::operation& o) { return n + o.records; });
}

// All cells with values of one size.
class match {
 public:
  match(session& s, uint64_t size, const ycsb::zipfian& popular)
      : s_(s), size_(size), popular_(popular), random_(s.o.seed * 1'000'099 + size) {
    for (const system_kind& kind : system_kinds())
      if (contends(s.o, kind)) start(kind);
    load();
  }

  void run(unsigned threads, ycsb::distribution how, char mix) {
    for (contestant& c : contestants_) c.samples.clear(), c.spent = {};
    uint64_t ops = 0;
    for (unsigned round = 0; round <= rounds_of(s_.o); ++round) {
      const auto batches = plan(threads, how, mix);
      for (size_t i = 0; i < contestants_.size(); ++i)
        play(contestants_[(i + round) % contestants_.size()], batches, round != 0);
      ops += round == 0 ? 0 : threads * ops_of(s_.o, mix);
    }
    for (contestant& c : contestants_) {
      row r = row_of(mix, how, size_, threads, *c.kind);
      r.ops = ops;
      summarize(r, c.samples);
      if (c.counts) r.per_op = costs{}.add(c.spent, 1 / static_cast<double>(ops));
      s_.rows.push_back(r);
    }
  }

 private:
  using batch = std::vector<ycsb::operation>;
  struct contestant {
    const system_kind* kind;
    std::unique_ptr<record_system> system;
    std::vector<double> samples;
    costs spent;
    bool counts = false;
  };

  // A system that gets no huge pages has no rows of this size.
  void start(const system_kind& kind) {
    const record_population p{size_, records_max(s_.o), s_.path(kind.name), kind.config};
    try {
      contestants_.push_back({&kind, make(kind, p), {}, {}});
    } catch (const no_huge_pages& e) {
      fmt::print(stderr, "scute-bench: values of {} bytes, {} is left out: {}\n", size_, kind.name,
                 e.what());
    }
  }

  void load() {
    batch all;
    for (; records_ < s_.o.records; ++records_) all.push_back({ycsb::kind::insert, 1, records_});
    for (contestant& c : contestants_) must(c, c.system->run(all, 0), all.size());
  }

  std::vector<batch> plan(unsigned threads, ycsb::distribution how, char mix) {
    const uint64_t common = records_;
    std::vector<batch> batches;
    for (unsigned t = 0; t < threads; ++t) {
      ycsb::generator from(mix, how, popular_, {common, records_}, random_);
      batches.push_back(ycsb::batch(from, ops_of(s_.o, mix)));
      records_ += from.inserted();
    }
    if (records_ > records_max(s_.o)) throw std::runtime_error("more records than were planned");
    version_ += threads * ops_of_round_max;
    return batches;
  }

  void play(contestant& c, const std::vector<batch>& batches, bool measured) {
    costs before, after;
    c.counts = c.system->count(before);
    std::vector<uint64_t> done(batches.size());
    const double ns = s_.workers.run(static_cast<unsigned>(batches.size()), [&](unsigned t) {
      done[t] = c.system->run(batches[t], version_ + t * ops_of_round_max);
    });
    for (size_t t = 0; t < batches.size(); ++t) must(c, done[t], records_of(batches[t]));
    if (!measured) return;
    c.samples.push_back(ns / static_cast<double>(batches[0].size()));
    if (c.counts && c.system->count(after)) c.spent.add(after).add(before, -1);
  }

  void must(const contestant& c, uint64_t done, uint64_t wanted) const {
    if (done != wanted)
      throw std::runtime_error(
          fmt::format("YCSB, {}: {} of {} records", c.kind->name, done, wanted));
  }

  session& s_;
  uint64_t size_;
  const ycsb::zipfian& popular_;
  random_source random_;
  uint64_t records_ = 0, version_ = 0;
  std::vector<contestant> contestants_;
};

unsigned steps(const options& o) {
  return wanted(o) ? static_cast<unsigned>(std::size(value_sizes) * o.threads.size()) : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  const ycsb::zipfian popular(s.o.records);
  for (const uint64_t size : value_sizes) {
    match cells(s, size, popular);
    for (const unsigned threads : s.o.threads) {
      s.bar.step(fmt::format("YCSB, values of {} bytes, {} thread{}", size, threads,
                             threads == 1 ? "" : "s"));
      for (const ycsb::distribution how : distributions)
        for (const char* mix = mixes; *mix != 0; ++mix)
          if (s.o.wants(work_of(*mix))) cells.run(threads, how, *mix);
    }
  }
}

void expected(const options& o, std::vector<row>& rows) {
  for (const uint64_t size : value_sizes)
    for (const unsigned threads : o.threads)
      for (const ycsb::distribution how : distributions)
        for (const char* mix = mixes; *mix != 0; ++mix)
          for (const system_kind& kind : system_kinds())
            if (o.wants(work_of(*mix)) && contends(o, kind))
              rows.push_back(row_of(*mix, how, size, threads, kind));
}

}  // namespace

benchmark_group ycsb_benchmarks() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
