// SPDX-License-Identifier: BSD-3-Clause
// A libpmemobj pool for the data structures of workloads/.
#pragma once

#include <cstdint>
#include <string>

#include "row.hpp"
#include "systems/pmemobj_file.hpp"
#include "systems/pmemobj_huge.hpp"
#include "workloads/stores/pmemobj_store.hpp"

namespace scute::bench {

enum class pmemobj_pages : uint8_t { as_they_come, huge };

template <class Store>
class pmemobj_home_of {
 public:
  using store_type = Store;
  using pages = pmemobj_pages;

  // Throws no_huge_pages if there are none to be had.
  pmemobj_home_of(const std::string& path, uint64_t size, pages wanted)
      : file_(path, size), store_(file_.pool) {
    if (wanted == pages::huge) make_huge(file_.pool, size);
  }

  store_type& store() noexcept { return store_; }
  bool count(costs&) const { return false; }

 private:
  pmemobj_file file_;
  store_type store_;
};

using pmemobj_home = pmemobj_home_of<workloads::pmemobj_store>;
using pmemobj_elements_home = pmemobj_home_of<workloads::pmemobj_elements_store>;

}  // namespace scute::bench
