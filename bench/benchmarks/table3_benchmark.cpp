// SPDX-License-Identifier: BSD-3-Clause
// The objects and bytes that a transaction of each map makes and modifies (Pangolin, Table 3). They
// are counted, not timed, and the same for every store and every machine.
#include <fmt/format.h>

#include "benchmarks/benchmarks.hpp"
#include "systems/map_system.hpp"

namespace scute::bench {
namespace {

constexpr const char* table3 = "table3";

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {table3, "bytes and objects that a transaction of each map makes and modifies"}};

// Counting takes more memory than the maps do.
uint64_t keys_of(const options& o) {
  return std::max<uint64_t>(o.keys / 10, 100);
}

unsigned steps(const options& o) {
  return o.wants(table3) ? 1 : 0;
}

row row_of(const std::string& structure, uint64_t object_bytes) {
  row r;
  r.work = table3;
  r.structure = structure;
  r.size = object_bytes;
  r.system = "scute";
  r.config = "counted";
  return r;
}

void run(session& s) {
  if (!s.o.wants(table3)) return;
  s.bar.step(fmt::format("{}, {} keys", table3, keys_of(s.o)));
  for (const workloads::structure_sizes& sizes : workloads::table3(keys_of(s.o), s.o.seed)) {
    row r = row_of(sizes.structure, sizes.object_bytes);
    r.ops = keys_of(s.o);
    r.sizes = footprint{sizes.insert, sizes.remove};
    s.rows.push_back(r);
  }
}

void expected(const options& o, std::vector<row>& rows) {
  if (!o.wants(table3)) return;
  for (const workloads::structure_sizes& sizes : workloads::table3(1, o.seed))
    rows.push_back(row_of(sizes.structure, sizes.object_bytes));
}

}  // namespace

benchmark_group table3_benchmark() {
  return {benchmarks, steps, run, expected};
}

}  // namespace scute::bench
