// SPDX-License-Identifier: BSD-3-Clause
// The operations whose system calls and allocations fault_test.cpp lets fail.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hostile/fault_stage.hpp"

namespace scute::test {

// One attempt at an operation.
struct attempt {
  const fault_stage& stage;
  std::string path;
  scute_medium medium;
  scute_pool* pool = nullptr;  // open before; or left open by the operation
  std::string message = {};    // of an error in another thread

  scute_oid oid(fault_stage::object o) const { return stage.objects[o]; }
  int open(uint32_t flags = 0) {
    scute_options o = opening();
    o.medium = medium;
    o.flags = flags;
    return scute_open(path.c_str(), &o, &pool);
  }
  int create(uint32_t flags) {
    scute_options o = options(fault_stage::pool_size);
    o.medium = medium;
    o.lanes = 4;
    o.flags = flags;
    return scute_create(path.c_str(), &o, &pool);
  }
};

enum class image { none, clean, crashed, damaged, fresh };

struct operation {
  const char* name;
  image before;
  bool opened;  // the pool is open before, and that is not part of the operation
  std::function<int(attempt&)> run;
};

const std::vector<operation>& operations();

}  // namespace scute::test
