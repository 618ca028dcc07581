// SPDX-License-Identifier: BSD-3-Clause
// A log of whole objects in a file, and the objects in DRAM or in a second file, for the data
// structures of workloads/.
#pragma once

#include <memory_resource>
#include <optional>
#include <string>

#include "core/medium/persist.hpp"
#include "row.hpp"
#include "systems/warm_file.hpp"
#include "workloads/stores/append_store.hpp"

namespace scute::bench {

class append_home {
 public:
  using store_type = workloads::append_store;
  static constexpr bool frees = true;  // nothing else does, at the end

  // A lane for each of the threads and the one that builds. `data_size` is 0 if the objects are in
  // DRAM.
  append_home(const std::string& path, unsigned threads, uint64_t lane, workloads::append_ways ways,
              uint64_t data_size)
      : log_(path, uint64_t{threads + 1} * lane) {
    const auto& cpu = core::medium::persist();
    if (data_size != 0) data_.emplace(path + ".data", data_size);
    store_.emplace(log_.bytes(), lane,
                   workloads::append_medium{cpu.copy_nt, floor_flush(), cpu.fence}, ways,
                   data_ ? data_->resource() : std::pmr::new_delete_resource());
  }

  store_type& store() noexcept { return *store_; }
  void stop_writing() { store_->stop_writing(); }
  bool count(costs& out) const {
    const auto all = store_->total();
    out = {};
    out.fences = static_cast<double>(all.fences);
    out.lines = static_cast<double>(all.lines);
    out.bytes_log = static_cast<double>(all.bytes);
    return true;
  }

 private:
  warm_file log_;
  std::optional<warm_objects> data_;
  std::optional<store_type> store_;
};

}  // namespace scute::bench
