// SPDX-License-Identifier: BSD-3-Clause
// scute_check(): every object's checksum and every column of a pool, against reading the same
// bytes once.
#include <fmt/format.h>

#include <cstring>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/stream.hpp"
#include "systems/mapped_file.hpp"
#include "systems/object_system.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

constexpr const char* check = "check";
constexpr uint64_t object_size = 1024;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {check, "verify a whole pool, against reading its bytes once (`read`)"}};

unsigned steps(const options& o) {
  return o.wants(check) ? 1 : 0;
}

struct contestant {
  std::string config;
  std::unique_ptr<temporary_pool> pool;
  std::unique_ptr<mapped_file> file;
  uint64_t bytes = 0;
  std::vector<double> samples, read_samples;
};

void fill(scute_pool* pool, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    scute_tx* tx = nullptr;
    must(scute_tx_begin(pool, &tx));
    for (int i = 0; i < 64 && done < bytes; ++i, done += object_size) {
      scute_oid oid = 0;
      void* at = nullptr;
      must(scute_tx_alloc(tx, object_size, 1, &oid, &at));
      std::memset(at, static_cast<int>(done / object_size), object_size);
    }
    must(scute_tx_commit(tx));
  }
}

uint64_t check_once(contestant& c) {
  scute_report report{};
  report.struct_size = sizeof report;
  must(scute_check(c.pool->get(), 0, &report, nullptr, nullptr, nullptr));
  if (report.damaged != 0) throw std::runtime_error("check found damage in a sound pool");
  return report.object_bytes;
}

std::vector<std::string> configs(const options& o) {
  std::vector<std::string> names;
  for (const system_kind& kind : system_kinds())
    if (kind.system == "scute" && o.wants_system(kind.name)) names.push_back(kind.config);
  return names;
}

row row_of(const options& o, const std::string& system, const std::string& config) {
  row r;
  r.work = check;
  r.size = o.check_size;
  r.system = system;
  r.config = config;
  return r;
}

void run(session& s) {
  if (!s.o.wants(check)) return;
  s.bar.step(check);
  std::vector<contestant> contestants;
  for (const std::string& config : configs(s.o)) {
    contestant c;
    c.config = config;
    const std::string path = s.path(config);
    // A quarter more than the objects, so that nearly all of the pool is in use.
    c.pool = std::make_unique<temporary_pool>(
        path,
        pool_options(config, (s.o.check_size * 5 / 4 + (uint64_t{8} << 20)) & ~uint64_t{4095}));
    fill(c.pool->get(), s.o.check_size);
    c.bytes = check_once(c);
    c.file = std::make_unique<mapped_file>(path);
    contestants.push_back(std::move(c));
  }
  if (contestants.empty()) return;
  static volatile uint64_t sink;
  std::vector<double> read_samples;
  const contestant& last = contestants.back();
  const uint64_t read_bytes = std::min(last.bytes, last.file->size()) & ~uint64_t{63};
  for (unsigned round = 0; round <= s.o.rounds; ++round) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      contestant& c = contestants[(i + round) % contestants.size()];
      const uint64_t begin = now_ns();
      check_once(c);
      if (round != 0) c.samples.push_back(static_cast<double>(now_ns() - begin));
    }
    const uint64_t begin = now_ns();
    sink = read_all(last.file->bytes(), read_bytes);
    if (round != 0) read_samples.push_back(static_cast<double>(now_ns() - begin));
  }
  (void)sink;
  const auto publish = [&](row r, const std::vector<double>& samples, uint64_t bytes) {
    r.ops = samples.size();
    r.moved = bytes;
    summarize(r, samples);
    s.rows.push_back(r);
  };
  for (const contestant& c : contestants)
    publish(row_of(s.o, "scute", c.config), c.samples, c.bytes);
  publish(row_of(s.o, "read", "stream"), read_samples, read_bytes);
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants(check)) return;
  const auto names = configs(o);
  for (const std::string& config : names) rows.push_back(row_of(o, "scute", config));
  if (!names.empty()) rows.push_back(row_of(o, "read", "stream"));
}

}  // namespace

benchmark_group check_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
