// SPDX-License-Identifier: BSD-3-Clause
// A pool of libpmemobj in a file of this process's own, which is removed at the end.
#pragma once

#include <libpmemobj.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace scute::bench {

struct pmemobj_file {
  pmemobj_file(const std::string& where, uint64_t bytes) : path(where), size(bytes) {
    ::unlink(path.c_str());
    pool = pmemobj_create(path.c_str(), "scute-bench", size, 0600);
    if (pool == nullptr) throw std::runtime_error(std::string("libpmemobj: ") + pmemobj_errormsg());
  }
  ~pmemobj_file() {
    pmemobj_close(pool);
    ::unlink(path.c_str());
  }
  pmemobj_file(const pmemobj_file&) = delete;
  pmemobj_file& operator=(const pmemobj_file&) = delete;

  std::string path;
  uint64_t size;
  PMEMobjpool* pool = nullptr;
};

}  // namespace scute::bench
