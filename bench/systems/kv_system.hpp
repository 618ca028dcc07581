// SPDX-License-Identifier: BSD-3-Clause
// The systems compared in the durable workloads: a store of records of one size on a disk. Each
// record is overwritten on its own, and durable when the call returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "systems/content.hpp"

namespace scute::bench {

struct kv_population {
  static constexpr uint64_t value_size = 256;

  uint64_t records;  // numbers 0 .. records-1; keys are ycsb::key_of() of them
  unsigned threads;
  std::string path;  // of a file or folder to make, and to remove with all that begins so
  std::string config;
  bool empty = false;  // the records come by load()

  uint64_t records_now() const { return empty ? 0 : records; }
};

// The content of a record: its number, then bytes that differ from one version to the next.
inline void kv_fill(std::byte* value, uint64_t record, uint64_t version) {
  fill_version(value, kv_population::value_size, version);
  std::memcpy(value, &record, sizeof record);
}

class kv_system {
 public:
  virtual ~kv_system() = default;

  // Overwrites a record. Threads 0 .. threads-1 call it at the same time.
  virtual void put(unsigned thread, uint64_t record, const std::byte* value) = 0;
  // The record is there, with its number and size. Not while others put.
  virtual bool holds(uint64_t record) = 0;
  // Inserts the records first .. first + n - 1, with version 0, in one transaction, which is
  // durable when the call returns. For one thread.
  virtual void load(uint64_t first, uint64_t n);
};

struct kv_kind {
  std::string name, system, config, about;
  std::unique_ptr<kv_system> (*make)(const kv_population&);  // loads all records, with version 0
  bool loads = true;                                         // it has load()
};

// All of this build, in the order of the tables.
const std::vector<kv_kind>& kv_kinds();

std::unique_ptr<kv_system> make_scute_kv(const kv_population&);
// Empty, for load(): the sorted map that `scute kv load` fills.
std::unique_ptr<kv_system> make_scute_load(const kv_population&);
// A persist-on-write file.
std::unique_ptr<kv_system> make_pow_kv(const kv_population&);
std::unique_ptr<kv_system> make_lmdb(const kv_population&);
std::unique_ptr<kv_system> make_sqlite(const kv_population&);
std::unique_ptr<kv_system> make_rocksdb(const kv_population&);
std::unique_ptr<kv_system> make_pwrite(const kv_population&);

}  // namespace scute::bench
