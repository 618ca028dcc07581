// SPDX-License-Identifier: BSD-3-Clause
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ

#include "systems/map_on.hpp"
#include "systems/pmemobj_home.hpp"

namespace scute::bench {

std::unique_ptr<map_system> make_pmemobj_map(const map_population& p, bool huge) {
  using pages = pmemobj_home::pages;
  return make_map_on<pmemobj_home>(p, p.path, map_pool_size(p),
                                   huge ? pages::huge : pages::as_they_come);
}

}  // namespace scute::bench

#endif
