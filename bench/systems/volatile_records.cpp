// SPDX-License-Identifier: BSD-3-Clause
#include "systems/records_on.hpp"
#include "systems/volatile_home.hpp"

namespace scute::bench {

uint64_t record_pool_size(const record_population& p) {
  // An entry with its header and what allocators round up, and its part of the table.
  const uint64_t entry = (p.value_size + 16) * 3 / 2 + 160;
  return (p.records * entry + (uint64_t{48} << 20)) & ~uint64_t{4095};
}

std::unique_ptr<record_system> make_volatile_records(const record_population& p) {
  return make_records_on<volatile_home>(p);
}

}  // namespace scute::bench
