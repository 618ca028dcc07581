// SPDX-License-Identifier: BSD-3-Clause
// The pool that operations with failing calls use: prepared once, and restored before each attempt.
// It is compared by its meaning, not by its bytes.
#pragma once

#include <map>
#include <sstream>

#include "hostile/fault_containers.hpp"
#include "hostile/fault_injector.hpp"
#include "support/pool_file.hpp"

namespace scute::test {

class fault_stage {
 public:
  static constexpr uint64_t pool_size = mib;
  static constexpr uint32_t plain = 7;  // type number of the objects below
  enum object { tiny, small, two_pages, large, spare_small, spare_large, object_count };

  fault_stage() {
    scute_options o = options();
    o.size = pool_size;
    o.lanes = 4;
    file_.create(o);
    for (const size_t n : {10, 100, 5000, 40000, 200, 20000})
      objects.push_back(file_.alloc(pattern(n, n), plain));
    fill_containers(file_);
    file_.close();
    clean = read_file(path());
    // Crashed with a transaction in place in flight, and one to be replayed.
    file_.open();
    file_.overwrite(objects[small], pattern(100, 100));
    forget_applied();
    scute_tx* tx = nullptr;
    void* p = nullptr;
    SCUTE_OKAY_E(scute_tx_begin(file_, &tx));
    SCUTE_OKAY_E(scute_tx_inplace(tx, objects[two_pages], 100, 200, &p));
    std::memset(p, 9, 200);
    SCUTE_OKAY_E(scute_tx_inplace(tx, objects[large], 5000, 30000, &p));
    std::memset(p, 9, 30000);
    crashed = read_file(path());
    SCUTE_OKAY_E(scute_tx_abort(tx));
    file_.close();
    damaged = clean;
    for (const object o2 : {small, large}) damaged[file_.offset_of(objects[o2]) + 50] ^= 1;
    damaged[4096 + 100] ^= 1;  // a copy of the superblock
  }

  const std::string& path() const { return file_.path; }
  const scratch& dir() const { return file_.dir; }
  // An image with a fresh pool of these options.
  static bytes fresh_image() {
    pool_file f;
    scute_options o = options();
    o.size = pool_size;
    o.lanes = 4;
    f.create(o);
    f.close();
    return read_file(f.path);
  }

  // Returns the pool's contents as text, every object verified. Empty if something cannot be read.
  std::string contents(scute_pool* handle) const {
    std::ostringstream out;
    std::multimap<uint64_t, std::string> all;
    scute_oid oid = 0, root = 0;
    uint64_t count = 0;
    if (scute_first(handle, SCUTE_TYPE_ANY, &oid) != SCUTE_OK) return {};
    while (oid != 0) {
      ++count;
      const void* at = nullptr;
      uint64_t size = 0;
      uint32_t type = 0;
      if (scute_get_verified(handle, oid, &at) != SCUTE_OK ||
          scute_object_info(handle, oid, &size, nullptr, &type) != SCUTE_OK)
        return {};
      if (type == plain) all.emplace(size, std::string(static_cast<const char*>(at), size));
      if (scute_next(handle, oid, SCUTE_TYPE_ANY, &oid) != SCUTE_OK) return {};
    }
    for (const auto& [size, content] : all)
      out << size << ':' << std::hash<std::string>()(content) << ' ';
    out << count << " objects";
    if (scute_root(handle, 0, 0, &root) != SCUTE_OK) return out.str();
    out << contents_of_containers(handle, root);
    return out.str();
  }
  static uint64_t counter(scute_pool* handle) {
    scute_oid root = 0;
    if (scute_root(handle, 0, 0, &root) != SCUTE_OK) return 0;
    return *static_cast<const uint64_t*>(scute_get(handle, root));
  }
  // A next transaction: the root's counter.
  static int count_up(scute_pool* handle) {
    scute_oid root = 0;
    if (const int e = scute_root(handle, containers_size, 1, &root); e != SCUTE_OK) return e;
    scute_tx* tx = nullptr;
    void* p = nullptr;
    if (const int e = scute_tx_begin(handle, &tx); e != SCUTE_OK) return e;
    if (const int e = scute_tx_add_range(tx, root, 0, 8, &p); e != SCUTE_OK) {
      scute_tx_abort(tx);
      return e;
    }
    ++*static_cast<uint64_t*>(p);
    return scute_tx_commit(tx);
  }

  std::vector<scute_oid> objects;
  bytes clean, crashed, damaged;

 private:
  // The status words of all lanes say nothing, so the last entry of each is replayed.
  void forget_applied() {
    const auto& g = file_.in().s.geo;
    for (uint32_t lane = 0; lane < g.lane_count; ++lane)
      for (uint32_t r = 0; r < g.lane_replicas; ++r)
        std::memset(file_.raw(g.lane_offset(lane, r)), 0, 64);
  }

  pool_file file_;
};

}  // namespace scute::test
