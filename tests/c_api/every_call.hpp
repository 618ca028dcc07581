// SPDX-License-Identifier: BSD-3-Clause
// A correct call of every exported function of the library that does more than look something up in
// a table. For tests of properties that all calls share. The list is compared with the exports of
// the shared library.
#pragma once

#include <string>
#include <vector>

#include "support/pool_file.hpp"

namespace scute::test {

// The arguments of the calls.
struct call_subject {
  scute_pool* pool = nullptr;
  scute_oid oid = 0;        // of an object of 5,000 bytes
  scute_tx* tx = nullptr;   // of this thread
  void* buffer = nullptr;   // of scute_obj_open()
  std::string other = {};   // where no file is
  std::string closed = {};  // a pool that no process has open
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
