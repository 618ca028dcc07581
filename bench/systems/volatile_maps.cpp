// SPDX-License-Identifier: BSD-3-Clause
#include "systems/map_on.hpp"
#include "systems/volatile_home.hpp"

namespace scute::bench {

std::unique_ptr<map_system> make_volatile_map(const map_population& p) {
  return make_map_on<volatile_home>(p);
}

}  // namespace scute::bench
