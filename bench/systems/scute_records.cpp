// SPDX-License-Identifier: BSD-3-Clause
#include "systems/records_on.hpp"
#include "systems/scute_home.hpp"

namespace scute::bench {

std::unique_ptr<record_system> make_scute_records(const record_population& p) {
  scute_options o = pool_options(p.config, record_pool_size(p));
  o.flags |= SCUTE_PREALLOCATE;
  return make_records_on<scute_home>(p, p.path, o);
}

}  // namespace scute::bench
