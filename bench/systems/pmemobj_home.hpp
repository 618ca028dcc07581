// SPDX-License-Identifier: BSD-3-Clause
// A libpmemobj pool for the data structures of workloads/.
#pragma once

#include <libpmemobj.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "row.hpp"
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
  struct temporary {
    temporary(const std::string& where, uint64_t size) : path(where) {
      ::unlink(path.c_str());
      pool = pmemobj_create(path.c_str(), "scute-bench", size, 0600);
      if (pool == nullptr)
        throw std::runtime_error(std::string("libpmemobj: ") + pmemobj_errormsg());
    }
    ~temporary() {
      pmemobj_close(pool);
      ::unlink(path.c_str());
    }
    temporary(const temporary&) = delete;
    temporary& operator=(const temporary&) = delete;

    std::string path;
    PMEMobjpool* pool = nullptr;
  } file_;
  store_type store_;
};

}  // namespace scute::bench
