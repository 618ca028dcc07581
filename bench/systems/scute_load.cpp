// SPDX-License-Identifier: BSD-3-Clause
// Scute: the sorted map of `scute kv load`, from keys to values, many records to a transaction, on
// a pool in the page cache (medium file).
#include <scute/containers/ordered_map.hpp>

#include "systems/kv_system.hpp"
#include "systems/scute_home.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {

struct load_value {
  std::byte bytes[kv_population::value_size];
};
struct load_root {
  scute::ordered_map<uint64_t, load_value> records;
};

}  // namespace scute::bench

SCUTE_TYPE(scute::bench::load_root, "scute.bench.load")

namespace scute::bench {
namespace {

scute_options load_options(const kv_population& p) {
  const uint64_t entries = p.records * 800;  // with nodes half full, headers and parity
  scute_options o = pool_options(p.config, (entries + (uint64_t{48} << 20)) & ~uint64_t{4095});
  o.medium = SCUTE_MEDIUM_FILE;
  o.flags |= SCUTE_PREALLOCATE;
  return o;
}

class scute_load final : public kv_system {
 public:
  explicit scute_load(const kv_population& p)
      : file_(p.path, load_options(p)),
        pool_(scute::pool::adopt(file_.release())),
        root_(pool_.root<load_root>()) {}

  void put(unsigned, uint64_t record, const std::byte* bytes) override {
    pool_.transact([&](scute::tx& tx) { insert(tx, record, bytes); });
  }
  bool holds(uint64_t record) override {
    const load_value* v = pool_.get(root_).records.get(pool_, workloads::ycsb::key_of(record));
    return v != nullptr && std::memcmp(v->bytes, &record, sizeof record) == 0;
  }
  void load(uint64_t first, uint64_t n) override {
    std::byte value[kv_population::value_size];
    pool_.transact([&](scute::tx& tx) {
      for (uint64_t i = first; i < first + n; ++i) {
        kv_fill(value, i, 0);
        insert(tx, i, value);
      }
    });
  }

 private:
  void insert(scute::tx& tx, uint64_t record, const std::byte* bytes) {
    load_value v;
    std::memcpy(v.bytes, bytes, sizeof v.bytes);
    tx.edit(root_, &load_root::records).insert_or_assign(tx, workloads::ycsb::key_of(record), v);
  }

  temporary_pool file_;
  scute::pool pool_;
  scute::ptr<load_root> root_;
};

}  // namespace

std::unique_ptr<kv_system> make_scute_load(const kv_population& p) {
  return std::make_unique<scute_load>(p);
}

}  // namespace scute::bench
