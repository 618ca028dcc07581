// SPDX-License-Identifier: BSD-3-Clause
// A lost page, from the access that faults to the access done: at 100 rows, as Pangolin measured it
// (4.6: 180 us for a page of a page column, in a 100 GB pool), with every row in use and the column
// cold or in the cache.
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "benchmarks/benchmarks.hpp"
#include "systems/object_system.hpp"
#include "systems/scute_pool.hpp"

namespace scute::bench {
namespace {

constexpr const char* work = "lost_page";
constexpr const char* config = "redo-mlpc";
constexpr const char* warm = "redo-mlpc-warm";
constexpr uint32_t data_rows = 100;
constexpr uint64_t page = 4096;

const std::vector<std::pair<std::string, std::string>> benchmarks{
    {work, "rebuild a lost page of 100 rows, from the fault to the access done"}};

row row_of(const char* how) {
  row r;
  r.work = work;
  r.size = page;
  r.system = "scute";
  r.config = how;
  return r;
}

void run(session& s) {
  if (!s.o.wants(work) || !s.o.wants_system(config)) return;
  s.bar.step(work);
  scute_options o = pool_options(config, s.o.scrub_size);
  o.rows = data_rows;
  temporary_pool pool(s.path(work), o);
  // Filled to the last row.
  for (bool full = false; !full;) {
    scute_tx* tx = nullptr;
    must(scute_tx_begin(pool.get(), &tx));
    scute_oid oid = 0;
    void* at = nullptr;
    const int e = scute_tx_alloc(tx, uint64_t{1} << 18, 1, &oid, &at);
    full = e == SCUTE_E_NOSPC;
    if (full) {
      must(scute_tx_abort(tx));
      break;
    }
    must(e);
    std::memset(at, 0x5a, uint64_t{1} << 18);
    must(scute_tx_commit(tx));
  }
  scute_info info{};
  info.struct_size = sizeof info;
  must(scute_pool_info(pool.get(), &info));
  const uintptr_t base = scute_direct_base(pool.get()) + (uintptr_t{info.tag} << 48);
  std::mt19937_64 random(s.o.seed);
  std::vector<double> cold, cached;
  const unsigned repairs = std::max(50u, s.o.rounds * 20);
  for (unsigned i = 0; i < repairs; ++i) {
    const uint64_t row = random() % data_rows, column = random() % (info.row_size / page) * page;
    uint64_t offset = 0;
    must(scute_offset_of(pool.get(), 0, row, column, &offset));
    for (std::vector<double>* samples : {&cold, &cached}) {
      scute_injection lose;
      scute_injection_init(&lose);
      lose.kind = SCUTE_INJURE_LOSE_PAGE;
      lose.offset = offset;
      lose.count = 1;
      lose.seed = random();
      must(scute_inject(pool.get(), &lose, nullptr, nullptr, nullptr));
      const auto* at = reinterpret_cast<const volatile unsigned char*>(base + offset);
      const uint64_t begin = now_ns();
      static_cast<void>(*at);
      samples->push_back(static_cast<double>(now_ns() - begin));
    }
  }
  scute_info after{};
  after.struct_size = sizeof after;
  must(scute_pool_info(pool.get(), &after));
  if (after.pages_repaired != uint64_t{2} * repairs || after.lost != 0)
    throw std::runtime_error("not every lost page was rebuilt");
  for (const auto& [how, samples] : {std::pair{config, &cold}, {warm, &cached}}) {
    row r = row_of(how);
    r.ops = samples->size();
    summarize(r, *samples);
    s.rows.push_back(r);
  }
}

}  // namespace

benchmark_group lost_page_benchmark() {
  return {benchmarks, [](const options& o) { return o.wants(work) ? 1u : 0u; }, run,
          [](const options& o, std::vector<row>& rows) {
            if (!o.wants(work) || !o.wants_system(config)) return;
            rows.push_back(row_of(config));
            rows.push_back(row_of(warm));
          }};
}

}  // namespace scute::bench
