// SPDX-License-Identifier: BSD-3-Clause
// A persist-on-write file for the data structures of workloads/. CPU instructions write to it,
// wherever it is.
#pragma once

#include <scute/pow.hpp>

#include <unistd.h>

#include <optional>
#include <string>

#include "row.hpp"
#include "systems/warm_file.hpp"
#include "workloads/stores/pow_store.hpp"

namespace scute::bench {

class pow_home {
 public:
  using store_type = workloads::pow_store;
  static constexpr bool frees = true;  // the objects are in DRAM

  // `data_size` is 0 if the objects are on the heap, else they are in a second file.
  pow_home(const std::string& path, scute_pow_protection protection, uint64_t size,
           workloads::pow_ways ways = {}, uint64_t data_size = 0)
      : file_{path}, db_(path, options(protection, size)) {
    if (data_size != 0) ways.data = data_.emplace(path + ".data", data_size).resource();
    store_.emplace(db_, ways);
  }

  store_type& store() noexcept { return *store_; }
  void stop_writing() const {}
  bool count(costs& out) const {
    const scute_pow_info i = db_.info();
    out = {};
    out.fences = static_cast<double>(i.fences);
    out.lines = static_cast<double>(i.lines);
    out.bytes_log = static_cast<double>(i.bytes_written);
    return true;
  }

 private:
  struct temporary {
    std::string path;
    ~temporary() { ::unlink(path.c_str()); }
  };
  static pow::options options(scute_pow_protection protection, uint64_t size) {
    pow::options o;
    o.flags = SCUTE_POW_NEW;
    o.medium = SCUTE_MEDIUM_RAM;
    o.protection = protection;
    o.size = size;
    o.max_size = 4 * size;
    return o;
  }

  temporary file_;
  std::optional<warm_objects> data_;
  pow::store db_;
  std::optional<store_type> store_;
};

}  // namespace scute::bench
