// SPDX-License-Identifier: BSD-3-Clause
// A log of whole objects in a file, and the objects in DRAM or in a second file, for the data structures of workloads/.
// The files are in huge pages where there are any. CPU instructions write to them, wherever they are: on a file system
// where these do not persist, the numbers are those of a medium where they do.
#pragma once

#include <cstring>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>

#include "medium/persist.hpp"
#include "row.hpp"
#include "systems/mapped_file.hpp"
#include "systems/pmemobj_huge.hpp"
#include "workloads/stores/append_store.hpp"

namespace scute::bench {

// A mapped file of which every page is there.
class warm_file {
 public:
  warm_file(const std::string& path, uint64_t size) : file_(path, size) {
    std::memset(file_.bytes(), 0, size);
    try {
      make_huge(file_.bytes(), size);
    } catch (const no_huge_pages&) {
      // grants_huge_pages() has said so.
    }
  }
  std::span<std::byte> bytes() const noexcept { return {file_.bytes(), file_.size()}; }

 private:
  mapped_file file_;
};

class append_home {
 public:
  using store_type = workloads::append_store;
  static constexpr bool frees = true;  // nothing else does, at the end

  // A lane for each of the threads and the one that builds. `data_size` is 0 if the objects are in DRAM.
  append_home(const std::string& path, unsigned threads, uint64_t lane, workloads::append_ways ways,
              uint64_t data_size)
      : log_(path, uint64_t{threads + 1} * lane) {
    const auto& cpu = core::medium::persist();
    if (data_size != 0) {
      data_.emplace(path + ".data", data_size);
      whole_.emplace(data_->bytes().data(), data_size, std::pmr::null_memory_resource());
      objects_.emplace(&*whole_);
    }
    store_.emplace(log_.bytes(), lane, workloads::append_medium{cpu.copy_nt, cpu.flush, cpu.fence},
                   ways, objects_ ? &*objects_ : std::pmr::new_delete_resource());
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
  std::optional<warm_file> data_;
  std::optional<std::pmr::monotonic_buffer_resource> whole_;
  std::optional<std::pmr::synchronized_pool_resource> objects_;
  std::optional<store_type> store_;
};

}  // namespace scute::bench
