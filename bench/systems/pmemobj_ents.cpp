// SPDX-License-Identifier: BSD-3-Clause
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ

#include "systems/ents_on.hpp"
#include "systems/pmemobj_home.hpp"

namespace scute::bench {

std::unique_ptr<ents_system> make_pmemobj_ents(const ents_kind& kind, const ents_task& task) {
  using pages = pmemobj_home::pages;
  return make_ents_on<pmemobj_home>(task, task.path, ents_pool_size(task),
                                    kind.name == pmemobj_huge ? pages::huge : pages::as_they_come);
}

}  // namespace scute::bench

#endif
