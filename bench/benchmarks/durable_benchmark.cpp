// SPDX-License-Identifier: BSD-3-Clause
// Durable commits of single records to a file on a disk, against the stores that are made for that.
//
// Every system holds the same records. In a round each of them, in an order that rotates,
// overwrites random records for --disk-seconds; whatever the disk is like, the commits are counted
// and not the seconds. The time of an operation is what one thread takes for it; throughput is the
// number of threads over it. Single operations are timed as well, for the percentiles.
#include <fmt/format.h>

#include "benchmarks/benchmarks.hpp"
#include "random.hpp"
#include "systems/file_system.hpp"
#include "systems/kv_system.hpp"

namespace scute::bench {
namespace {

constexpr const char* put = "kv_put";
constexpr unsigned thread_counts[] = {1, 8};
constexpr uint64_t records_max = 100'000;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {put, "overwrite a record of 256 bytes durably, on the disk of --disk-dir"}};

bool wanted(const options& o) {
  if (!o.wants(put)) return false;
  for (const kv_kind& kind : kv_kinds())
    if (o.wants_system(kind.name)) return true;
  return false;
}

// Rounds that count; one more warms up.
unsigned rounds_of(const options& o) {
  return o.tiny ? 1 : o.quick ? 3 : 7;
}

row row_of(unsigned threads, const kv_kind& kind) {
  row r;
  r.work = put;
  r.size = kv_population::value_size;
  r.threads = threads;
  r.system = kind.system;
  r.config = kind.config;
  return r;
}

struct contestant {
  const kv_kind* kind;
  std::unique_ptr<kv_system> system;
  std::vector<double> samples, latencies;
  uint64_t ops = 0;
};

// The work of one thread in a round.
struct share {
  std::vector<uint64_t> records;  // to be overwritten, over and over
  std::vector<double> latencies;
};

class match {
 public:
  match(session& s, unsigned threads)
      : s_(s),
        threads_(threads),
        records_(s.o.tiny ? 200 : std::min(s.o.records, records_max)),
        workers_(threads, clock_kind::wall),
        random_(s.o.seed * 1'000'081 + threads),
        shares_(threads) {
    for (share& each : shares_) each.records.resize(1 << 12);
    for (const kv_kind& kind : kv_kinds()) {
      if (!s.o.wants_system(kind.name)) continue;
      const std::string path =
          fmt::format("{}/{}", s.o.disk_dir, s.path("kv." + kind.name).substr(s.o.dir.size() + 1));
      contestants_.push_back({&kind, kind.make({records_, threads, path, kind.config}), {}, {}, 0});
    }
  }

  void run() {
    const std::string on = file_system_of(s_.o.disk_dir);
    for (unsigned round = 0; round <= rounds_of(s_.o); ++round) {
      for (share& each : shares_)
        for (uint64_t& record : each.records) record = random_.below(records_);
      for (size_t i = 0; i < contestants_.size(); ++i)
        play(contestants_[(i + round) % contestants_.size()], round);
    }
    for (contestant& c : contestants_) {
      verify(c);
      row r = row_of(threads_, *c.kind);
      r.ops = c.ops;
      summarize(r, c.samples);
      std::sort(c.latencies.begin(), c.latencies.end());
      r.p50_ns = quantile(c.latencies, 0.5);
      r.p99_ns = quantile(c.latencies, 0.99);
      r.file_system = on;
      s_.rows.push_back(r);
    }
  }

 private:
  void play(contestant& c, unsigned round) {
    const auto budget = static_cast<uint64_t>(s_.o.disk_seconds * 1e9);
    const double ns = workers_.run(threads_, [&](unsigned t) {
      share& mine = shares_[t];
      mine.latencies.clear();
      std::byte value[kv_population::value_size];
      const uint64_t begin = now_ns();
      for (uint64_t i = 0, before = begin; before - begin < budget; ++i) {
        const uint64_t record = mine.records[i % mine.records.size()];
        kv_fill(value, record, ((round + 1) * 64 + t) * (uint64_t{1} << 20) + i);
        c.system->put(t, record, value);
        const uint64_t after = now_ns();
        mine.latencies.push_back(static_cast<double>(after - before));
        before = after;
      }
    });
    if (round == 0) return;
    uint64_t done = 0;
    for (const share& each : shares_) {
      done += each.latencies.size();
      c.latencies.insert(c.latencies.end(), each.latencies.begin(), each.latencies.end());
    }
    c.ops += done;
    c.samples.push_back(ns * threads_ / static_cast<double>(done));
  }

  // Verifies the records that were written last, and some that perhaps no thread has written.
  void verify(contestant& c) {
    const auto must_hold = [&](uint64_t record) {
      if (!c.system->holds(record))
        throw std::runtime_error(
            fmt::format("{}, {}: record {} is lost", put, c.kind->name, record));
    };
    for (const share& each : shares_)
      for (size_t i = 0; i < std::min<size_t>(each.records.size(), 100); ++i)
        must_hold(each.records[i]);
    for (uint64_t i = 0; i < 100; ++i) must_hold(random_.below(records_));
  }

  session& s_;
  unsigned threads_;
  uint64_t records_;
  crew workers_;
  random_source random_;
  std::vector<share> shares_;
  std::vector<contestant> contestants_;
};

unsigned steps(const options& o) {
  return wanted(o) ? static_cast<unsigned>(std::size(thread_counts)) : 0;
}

void run(session& s) {
  if (!wanted(s.o)) return;
  for (const unsigned threads : thread_counts) {
    s.bar.step(fmt::format("{}, {} thread{}", put, threads, threads == 1 ? "" : "s"));
    match(s, threads).run();
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants(put)) return;
  for (const unsigned threads : thread_counts)
    for (const kv_kind& kind : kv_kinds())
      if (o.wants_system(kind.name)) rows.push_back(row_of(threads, kind));
}

}  // namespace

benchmark_group durable_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
