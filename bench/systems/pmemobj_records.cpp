// SPDX-License-Identifier: BSD-3-Clause
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ

#include "systems/pmemobj_home.hpp"
#include "systems/records_on.hpp"

namespace scute::bench {

std::unique_ptr<record_system> make_pmemobj_records(const record_population& p, bool huge) {
  using pages = pmemobj_home::pages;
  return make_records_on<pmemobj_home>(p, p.path, record_pool_size(p),
                                       huge ? pages::huge : pages::as_they_come);
}

}  // namespace scute::bench

#endif
