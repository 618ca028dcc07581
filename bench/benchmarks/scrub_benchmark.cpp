// SPDX-License-Identifier: BSD-3-Clause
// Scrubbing: how fast, against reading the same bytes once with as many threads; and what it costs
// transactions that run meanwhile.
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/stream.hpp"
#include "systems/mapped_file.hpp"
#include "systems/object_system.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

constexpr const char* scrub = "scrub";
constexpr const char* under_scrub = "under_scrub";
constexpr const char* config = "redo-mlpc";
constexpr const char* scrubbed = "redo-mlpc-scrubbed";
constexpr uint64_t object_sizes[] = {64, 1024, uint64_t{1} << 20};
// Bytes that a transaction of under_scrub overwrites at most.
constexpr uint64_t overwritten_max = 1024;
// A batch of under_scrub is so many times --ops long, so that a scrub gets going in it.
constexpr uint32_t batch_factor = 8;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {scrub, "scrub a pool of objects, against reading its bytes once (`read`)"},
    {under_scrub,
     "overwrite up to 1 KiB of an object, alone and during a scrub in the background"}};

unsigned steps(const options& o) {
  return (o.wants(scrub) ? 1 : 0) + (o.wants(under_scrub) ? 1 : 0);
}

struct filled_pool {
  filled_pool(const session& s, uint64_t object_size)
      : size(object_size),
        path(s.path(scrub)),
        // Headers and parity, and a little room for logs.
        pool(path, pool_options(config, (s.o.scrub_size + (uint64_t{4} << 20)) & ~uint64_t{4095})) {
    for (bool full = false; !full;) {
      scute_tx* tx = nullptr;
      must(scute_tx_begin(pool.get(), &tx));
      for (int i = 0; i < 64 && !full; ++i) {
        scute_oid oid = 0;
        void* at = nullptr;
        const int e = scute_tx_alloc(tx, size, 1, &oid, &at);
        full = e == SCUTE_E_NOSPC;
        if (full) break;
        must(e);
        std::memset(at, static_cast<int>(objects.size()), size);
        objects.push_back(oid);
        if (size >= (uint64_t{1} << 18)) break;
      }
      must(scute_tx_commit(tx));
      if (objects.size() * (size + 64) > s.o.scrub_size / 100 * 90) full = true;
    }
  }

  uint64_t size;
  std::string path;
  temporary_pool pool;
  std::vector<scute_oid> objects;
};

scute_report run_scrub(scute_pool* pool, unsigned threads) {
  scute_scrub_options o;
  scute_scrub_options_init(&o);
  o.threads = threads;
  scute_report report{};
  report.struct_size = sizeof report;
  must(scute_scrub(pool, &o, &report));
  if (report.damaged != 0) throw std::runtime_error("the scrub found damage in a sound pool");
  return report;
}

row row_of(const char* work, uint64_t size, unsigned threads, const char* system, const char* how) {
  row r;
  r.work = work;
  r.size = size;
  r.threads = threads;
  r.system = system;
  r.config = how;
  return r;
}

void publish(session& s, row r, const std::vector<double>& samples) {
  r.ops = samples.size();
  summarize(r, samples);
  s.rows.push_back(r);
}

void measure_scrub(session& s, filled_pool& f, unsigned threads) {
  const mapped_file file(f.path);
  std::vector<double> scrubbing, reading;
  uint64_t bytes = 0;
  for (unsigned round = 0; round <= s.o.rounds; ++round) {
    const uint64_t begin = now_ns();
    bytes = run_scrub(f.pool.get(), threads).bytes;
    if (round != 0) scrubbing.push_back(static_cast<double>(now_ns() - begin));
    const double ns = read_ns(s.workers, threads, file.bytes(), file.size(), bytes);
    if (round != 0) reading.push_back(ns);
  }
  row r = row_of(scrub, f.size, threads, "scute", config);
  r.moved = bytes;
  publish(s, r, scrubbing);
  r = row_of(scrub, f.size, threads, "read", "stream");
  r.moved = bytes;
  publish(s, r, reading);
}

// One batch of overwrites; the nanoseconds of one of them, as a thread sees it.
double overwrite(session& s, filled_pool& f, unsigned threads, unsigned batch) {
  const uint64_t each = uint64_t{s.o.ops} * batch_factor;
  const uint64_t share = f.objects.size() / threads;
  const uint64_t begin = now_ns();
  s.workers.run(threads, [&](unsigned t) {
    std::mt19937_64 random(s.o.seed + batch * 1000 + t);
    const uint64_t n = std::min(f.size, overwritten_max);
    for (uint64_t i = 0; i < each; ++i) {
      const scute_oid oid = f.objects[t * share + random() % share];
      const uint64_t at = random() % (f.size / n) * n;
      scute_tx* tx = nullptr;
      void* to = nullptr;
      must(scute_tx_begin(f.pool.get(), &tx));
      must(scute_tx_add_range(tx, oid, at, n, &to));
      std::memset(to, static_cast<int>(random()), n);
      must(scute_tx_commit(tx));
    }
  });
  return static_cast<double>(now_ns() - begin) / static_cast<double>(each);
}

void measure_load(session& s, filled_pool& f, unsigned threads) {
  std::vector<double> alone, together, scrubbing;
  unsigned batch = 0;  // each has a seed of its own, or the second would find its objects cached
  const auto quiet = [&] { return overwrite(s, f, threads, batch++); };
  const auto busy = [&] {
    scute_scrub_options o;
    scute_scrub_options_init(&o);
    must(scute_scrub_start(f.pool.get(), &o));
    const double ns = overwrite(s, f, threads, batch++);
    scute_scrub_stop(f.pool.get());
    scute_report report{};
    report.struct_size = sizeof report;
    must(scute_scrub_wait(f.pool.get(), &report));
    if (report.damaged != 0) throw std::runtime_error("the scrub found damage in a sound pool");
    // Nanoseconds per MiB that the scrub got done concurrently with the others.
    scrubbing.push_back(static_cast<double>(report.elapsed_ns) * static_cast<double>(1 << 20) /
                        static_cast<double>(std::max<uint64_t>(report.bytes, 1)));
    return ns;
  };
  quiet();
  for (unsigned round = 0; round < s.o.rounds; ++round) {
    if (round % 2 == 0) alone.push_back(quiet());
    together.push_back(busy());
    if (round % 2 != 0) alone.push_back(quiet());
  }
  publish(s, row_of(under_scrub, f.size, threads, "scute", config), alone);
  publish(s, row_of(under_scrub, f.size, threads, "scute", scrubbed), together);
  row r = row_of(under_scrub, f.size, threads, "scrub", "background");
  r.moved = uint64_t{1} << 20;
  publish(s, r, scrubbing);
}

void run(session& s) {
  if (!s.o.wants_system(config)) return;
  for (const char* work : {scrub, under_scrub}) {
    if (!s.o.wants(work)) continue;
    s.bar.step(work);
    for (const uint64_t size : object_sizes) {
      filled_pool f(s, size);
      for (const unsigned threads : s.o.threads)
        work == scrub ? measure_scrub(s, f, threads) : measure_load(s, f, threads);
    }
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants_system(config)) return;
  for (const uint64_t size : object_sizes)
    for (const unsigned threads : o.threads) {
      if (o.wants(scrub)) {
        rows.push_back(row_of(scrub, size, threads, "scute", config));
        rows.push_back(row_of(scrub, size, threads, "read", "stream"));
      }
      if (o.wants(under_scrub)) {
        rows.push_back(row_of(under_scrub, size, threads, "scute", config));
        rows.push_back(row_of(under_scrub, size, threads, "scute", scrubbed));
        rows.push_back(row_of(under_scrub, size, threads, "scrub", "background"));
      }
    }
}

}  // namespace

benchmark_group scrub_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
