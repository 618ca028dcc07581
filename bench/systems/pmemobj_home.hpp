// SPDX-License-Identifier: BSD-3-Clause
// A libpmemobj pool for the data structures of workloads/.
#pragma once

#include <string>

#include "row.hpp"
#include "systems/pmemobj_file.hpp"
#include "systems/pmemobj_huge.hpp"
#include "workloads/stores/pmemobj_store.hpp"

namespace scute::bench {

class pmemobj_home {
 public:
  using store_type = workloads::pmemobj_store;

  enum class pages { as_they_come, huge };

  // Throws no_huge_pages if there are none to be had.
  pmemobj_home(const std::string& path, uint64_t size, pages wish)
      : file_(path, size), store_(file_.pool) {
    if (wish == pages::huge) make_huge(file_.pool, size);
  }

  store_type& store() noexcept { return store_; }
  bool count(costs&) const { return false; }

 private:
  pmemobj_file file_;
  store_type store_;
};

}  // namespace scute::bench
