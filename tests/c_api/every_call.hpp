// SPDX-License-Identifier: BSD-3-Clause
// A proper call of every exported function of the library that does more than to look something up
// in a table: for tests of what holds for all calls, whatever they do. The list is compared with
// what the shared library exports.
#pragma once

#include <string>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {

// What calls are made with.
struct call_subject {
  scute_pool* pool = nullptr;
  scute_oid oid = 0;        // of an object of 5,000 bytes
  scute_tx* tx = nullptr;   // of this thread
  void* buffer = nullptr;   // of scute_obj_open()
  std::string other = {};   // where no file is
  std::string closed = {};  // a pool that nobody has open
};

struct every_call {
  enum class with : uint8_t { nothing, pool, transaction, buffer, scrub };

  const char* name;
  with needs;
  // The code that the function returns; of those that return none, SCUTE_E_FORKED if they return
  // null or 0 instead of what they are asked for.
  int (*make)(call_subject&);
  bool silent = false;  // returns neither

  static const std::vector<every_call>& all();
};

}  // namespace scute::test
