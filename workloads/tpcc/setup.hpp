// SPDX-License-Identifier: BSD-3-Clause
// How large a TPC-C database is, and which part of the benchmark runs on it.
#pragma once

#include <cstdint>

namespace scute::workloads::tpcc {

/// `whole`: New-Order with its order lines and 1 % of rollbacks, and Payment, 45 to 43, after the
/// specification (TPC-C 5.11). `orders`: New-Order as ENTS ran it: the district's next number, an
/// order and a new order of 64 bytes each, 5 to 15 rows of stock; no customers, no order lines, no
/// rollback.
enum class part : uint8_t { whole, orders };

struct setup {
  part runs;
  uint32_t warehouses;
  uint32_t items;  // the specification's number is 100,000; ENTS took 10,000
  uint32_t
      customers;  // of a district, and its orders at first; 3000. With `orders` their numbers alone
  uint64_t seed;
};

inline constexpr uint32_t districts = 10;  // of a warehouse
inline constexpr uint32_t lines_max = 15, lines_min = 5;

}  // namespace scute::workloads::tpcc
