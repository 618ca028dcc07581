// SPDX-License-Identifier: BSD-3-Clause
// Scute: the locked hash map, a transaction per record, on a pool in the page cache (medium file).
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "systems/kv_system.hpp"
#include "systems/scute_home.hpp"
#include "workloads/maps/locked_hashmap.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {
namespace {

struct value {
  std::byte bytes[kv_population::value_size];
};

using store = workloads::scute_store;
using map = workloads::locked_hashmap<store, value>;

scute_options options_for(const kv_population& p, scute_medium medium) {
  const uint64_t entries = p.records * 600;  // with headers, table and parity
  scute_options o = pool_options(p.config, (entries + (uint64_t{48} << 20)) & ~uint64_t{4095});
  o.medium = medium;
  o.flags |= SCUTE_PREALLOCATE;
  return o;
}

// Waits for the disk only once, at the end: with medium file, loading would take minutes.
void load(const kv_population& p) {
  const scute_options o = options_for(p, SCUTE_MEDIUM_RAM);
  scute_pool* handle = nullptr;
  must(scute_create(p.path.c_str(), &o, &handle));
  {
    scute::pool pool = scute::pool::adopt(handle);
    store s(pool);
    map records(s, s.root<map::root>());
    for (uint64_t i = 0; i < p.records; ++i) {
      value fresh;
      kv_fill(fresh.bytes, i, 0);
      records.insert(workloads::ycsb::key_of(i), fresh);
    }
    pool.close();
  }
  // In memory engine spec has its log in the pool; on a disk it is a file of its own.
  if (o.engine == SCUTE_ENGINE_SPEC) {
    const scute_options on_disk = options_for(p, SCUTE_MEDIUM_FILE);
    must(scute_set_engine(p.path.c_str(), &on_disk, SCUTE_ENGINE_SPEC));
  }
  const int fd = ::open(p.path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0 || ::fsync(fd) != 0) throw std::system_error(errno, std::generic_category(), p.path);
  ::close(fd);
}

class scute_kv final : public kv_system {
 public:
  // The pool must have been loaded.
  explicit scute_kv(const kv_population& p)
      : home_(p.path, options_for(p, SCUTE_MEDIUM_FILE), scute_open),
        map_(home_.store(), home_.store().root<map::root>()) {}

  void put(unsigned, uint64_t record, const std::byte* bytes) override {
    const bool there = map_.read_modify_write(workloads::ycsb::key_of(record), [&](value& v) {
      std::memcpy(v.bytes, bytes, sizeof v.bytes);
    });
    if (!there) throw std::runtime_error("Scute: a record is lost");
  }
  bool holds(uint64_t record) override {
    bool right = false;
    map_.read(workloads::ycsb::key_of(record),
              [&](const value& v) { right = std::memcmp(v.bytes, &record, sizeof record) == 0; });
    return right;
  }

 private:
  scute_home home_;
  map map_;
};

}  // namespace

std::unique_ptr<kv_system> make_scute_kv(const kv_population& p) {
  if (p.empty) return make_scute_load(p);
  load(p);
  return std::make_unique<scute_kv>(p);
}

}  // namespace scute::bench
