// SPDX-License-Identifier: BSD-3-Clause
#include "systems/map_on.hpp"
#include "systems/scute_home.hpp"

namespace scute::bench {

std::unique_ptr<map_system> make_scute_map(const map_population& p) {
  scute_options o = pool_options(p.config, map_pool_size(p));
  o.flags |= SCUTE_PREALLOCATE;
  return make_map_on<scute_home>(p, p.path, o);
}

}  // namespace scute::bench
