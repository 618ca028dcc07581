// SPDX-License-Identifier: BSD-3-Clause
// A pool of one configuration, for every workload that needs one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "row.hpp"
#include "scute/scute.h"

namespace scute::bench {

[[noreturn]] void fail_with_scute_error(int rc);

// Throws what scute_errormsg() says if rc is an error.
inline void must(int rc) {
  if (rc < 0) [[unlikely]]
    fail_with_scute_error(rc);
}

// The options of a configuration such as "redo-mlpc".
scute_options pool_options(const std::string& config, uint64_t size);

// The costs that the pool has counted since it was opened.
costs costs_of(scute_pool* pool);

// Closes the pool and removes its file.
class temporary_pool {
 public:
  using start_function = decltype(&scute_create);

  temporary_pool(const std::string& path, const scute_options& o,
                 start_function start = scute_create);
  ~temporary_pool();
  temporary_pool(const temporary_pool&) = delete;
  temporary_pool& operator=(const temporary_pool&) = delete;

  scute_pool* get() const noexcept { return pool_; }
  // The pool is the caller's to close from here on; the file still goes with this object.
  scute_pool* release() noexcept { return std::exchange(pool_, nullptr); }
  void close();
  void open();

 private:
  std::string path_;
  scute_pool* pool_ = nullptr;
};

}  // namespace scute::bench
