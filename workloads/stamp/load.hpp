// SPDX-License-Identifier: BSD-3-Clause
// The changes of an application's average transaction: the columns of Table 2 of the SpecPMT paper
// (ASPLOS 2023), which are about bytes that existed before, and the new objects, which the paper
// does not count apart.
#pragma once

#include <cstdint>

namespace scute::workloads::stamp {

struct load {
  // changed, each once per transaction; transactions that change nothing are in the average
  double bytes;
  uint64_t transactions, updates;  // in all; an update stores to at most 8 of those bytes
  double new_bytes = 0;            // of objects that it made and did not free again
};

}  // namespace scute::workloads::stamp
