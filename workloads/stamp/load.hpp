// SPDX-License-Identifier: BSD-3-Clause
// What an application's transactions do to what is there: the columns of Table 2 of the SpecPMT paper (ASPLOS
// 2023).
#pragma once

#include <cstdint>

namespace scute::workloads::stamp {

struct load {
  double bytes;  // per transaction, those counted that change nothing
  uint64_t transactions, updates;
};

}  // namespace scute::workloads::stamp
