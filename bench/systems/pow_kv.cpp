// SPDX-License-Identifier: BSD-3-Clause
// A map of strings in DRAM that a persist-on-write file on a disk keeps: what
// docs/internals/stores.md shows, one mutex for all.
#include <unistd.h>

#include <mutex>
#include <scute/pow.hpp>

#include "systems/kv_system.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {
namespace {

pow::options store_options(const kv_population& p) {
  pow::options o;
  o.flags = SCUTE_POW_NEW;
  o.medium = SCUTE_MEDIUM_FILE;
  o.protection = p.config == "pow-none" ? SCUTE_POW_NONE : SCUTE_POW_ALWAYS;
  // Twice what counts, which the cleaner keeps, and room for what is open.
  o.size = (p.records * 800 + (uint64_t{32} << 20)) & ~uint64_t{4095};
  o.max_size = 4 * o.size;
  return o;
}

std::string key_of(uint64_t record) {
  const uint64_t key = workloads::ycsb::key_of(record);
  return {reinterpret_cast<const char*>(&key), sizeof key};
}

class pow_kv final : public kv_system {
 public:
  explicit pow_kv(const kv_population& p)
      : file_{p.path}, db_(p.path, store_options(p)), records_(db_, "records") {
    std::byte value[kv_population::value_size];
    for (uint64_t i = 0; i < p.records_now(); ++i) {
      kv_fill(value, i, 0);
      put(i, value, pow::later);
    }
    db_.sync();
  }

  void put(unsigned, uint64_t record, const std::byte* value) override {
    put(record, value, pow::strict);
  }
  void load(uint64_t first, uint64_t n) override {
    std::byte value[kv_population::value_size];
    auto s = db_.section(mutex_, pow::strict);
    for (uint64_t i = first; i < first + n; ++i) {
      kv_fill(value, i, 0);
      records_.edit(key_of(i)).assign(reinterpret_cast<const char*>(value), sizeof value);
    }
    s.commit();
  }
  bool holds(uint64_t record) override {
    const auto there = records_.find(key_of(record));
    if (there == records_.end()) return false;
    const std::string& value = (*there).second;
    return value.size() == kv_population::value_size &&
           std::memcmp(value.data(), &record, sizeof record) == 0;
  }

 private:
  struct temporary {
    std::string path;
    ~temporary() { ::unlink(path.c_str()); }
  };

  void put(uint64_t record, const std::byte* value, pow::durability how) {
    auto s = db_.section(mutex_, how);
    records_.edit(key_of(record))
        .assign(reinterpret_cast<const char*>(value), kv_population::value_size);
    s.commit();
  }

  temporary file_;
  pow::store db_;
  std::mutex mutex_;
  pow::map<std::string, std::string> records_;
};

}  // namespace

std::unique_ptr<kv_system> make_pow_kv(const kv_population& p) {
  return std::make_unique<pow_kv>(p);
}

}  // namespace scute::bench
