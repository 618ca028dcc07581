// SPDX-License-Identifier: BSD-3-Clause
// Bulk insert into an empty store on a disk, against the stores that are made for that.
//
// In a round each system, in an order that rotates, gets a new store, and the same records in
// transactions of a thousand, each durable before the next one. The time of an operation is that of
// a record. Making the store is not timed.
#include <fmt/format.h>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/file_system.hpp"
#include "systems/kv_system.hpp"

namespace scute::bench {
namespace {

constexpr const char* load = "kv_load";
constexpr uint64_t in_transaction = 1000, records_max = 100'000;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {load,
     "insert records of 256 bytes into an empty store, a thousand to a transaction, durably, on "
     "the disk of --disk-dir"}};

bool contends(const options& o, const kv_kind& kind) {
  return kind.loads && o.wants_system(kind.name);
}

bool wanted(const options& o) {
  if (!o.wants(load)) return false;
  for (const kv_kind& kind : kv_kinds())
    if (contends(o, kind)) return true;
  return false;
}

// Rounds that count; one more warms up.
unsigned rounds_of(const options& o) {
  return o.tiny ? 1 : o.quick ? 2 : 5;
}

row row_of(const kv_kind& kind) {
  row r;
  r.work = load;
  r.size = kv_population::value_size;
  r.threads = 1;
  r.system = kind.system;
  r.config = kind.config;
  return r;
}

struct contestant {
  const kv_kind* kind;
  std::string path;
  std::vector<double> samples, latencies;  // the latter of a transaction, over its records
};

class match {
 public:
  explicit match(session& s)
      : s_(s),
        records_(s.o.tiny ? 2000 : std::min(s.o.records, records_max)),
        workers_(1, clock_kind::wall),
        random_(s.o.seed * 1'000'093) {
    for (const kv_kind& kind : kv_kinds())
      if (contends(s.o, kind))
        contestants_.push_back({&kind,
                                fmt::format("{}/{}", s.o.disk_dir,
                                            s.path("load." + kind.name).substr(s.o.dir.size() + 1)),
                                {},
                                {}});
  }

  void run() {
    const std::string on = file_system_of(s_.o.disk_dir);
    for (unsigned round = 0; round <= rounds_of(s_.o); ++round)
      for (size_t i = 0; i < contestants_.size(); ++i)
        play(contestants_[(i + round) % contestants_.size()], round != 0);
    for (contestant& c : contestants_) {
      row r = row_of(*c.kind);
      r.ops = records_ * c.samples.size();
      summarize(r, c.samples);
      std::sort(c.latencies.begin(), c.latencies.end());
      r.p50_ns = quantile(c.latencies, 0.5);
      r.p99_ns = quantile(c.latencies, 0.99);
      r.file_system = on;
      s_.rows.push_back(r);
    }
  }

 private:
  void play(contestant& c, bool measured) {
    const auto system = c.kind->make({records_, 1, c.path, c.kind->config, true});
    const double ns = workers_.run(1, [&](unsigned) {
      uint64_t before = now_ns();
      for (uint64_t i = 0; i < records_; i += in_transaction) {
        const uint64_t n = std::min(in_transaction, records_ - i);
        system->load(i, n);
        const uint64_t after = now_ns();
        if (measured)
          c.latencies.push_back(static_cast<double>(after - before) / static_cast<double>(n));
        before = after;
      }
    });
    for (uint64_t i = 0; i < 100; ++i)
      if (const uint64_t record = random_.below(records_); !system->holds(record))
        throw std::runtime_error(
            fmt::format("{}, {}: record {} is lost", load, c.kind->name, record));
    if (measured) c.samples.push_back(ns / static_cast<double>(records_));
  }

  session& s_;
  uint64_t records_;
  crew workers_;
  random_source random_;
  std::vector<contestant> contestants_;
};

unsigned steps(const options& o) {
  return wanted(o) ? 1 : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  s.bar.step(load);
  match(s).run();
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants(load)) return;
  for (const kv_kind& kind : kv_kinds())
    if (contends(o, kind)) rows.push_back(row_of(kind));
}

}  // namespace

benchmark_group load_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
