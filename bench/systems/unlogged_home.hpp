// SPDX-License-Identifier: BSD-3-Clause
// A file without a log for the data structures of workloads/, in huge pages where there are any.
// CPU instructions write back, wherever the file is: on a file system where these do not persist,
// the numbers are those of a medium where they do.
#pragma once

#include <cstring>
#include <string>

#include "core/medium/persist.hpp"
#include "row.hpp"
#include "systems/mapped_file.hpp"
#include "systems/pmemobj_huge.hpp"
#include "workloads/stores/unlogged_store.hpp"

namespace scute::bench {

class unlogged_home {
 public:
  using store_type = workloads::unlogged_store;

  unlogged_home(const std::string& path, uint64_t size) : file_(path, size) {
    std::memset(file_.bytes(), 0, size);  // makes every page
    try {
      make_huge(file_.bytes(), size);
    } catch (const no_huge_pages&) {
      // grants_huge_pages() has said so.
    }
  }

  store_type& store() noexcept { return store_; }
  bool count(costs&) const { return false; }

 private:
  mapped_file file_;
  workloads::arena arena_{{file_.bytes(), file_.size()}};
  store_type store_{arena_, {core::medium::persist().flush, core::medium::persist().fence}};
};

}  // namespace scute::bench
