// SPDX-License-Identifier: BSD-3-Clause
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ

#include "systems/pmemobj_home.hpp"
#include "systems/stamp_on.hpp"

namespace scute::bench {

std::unique_ptr<stamp_system> make_pmemobj_stamp(const stamp_kind& kind, const stamp_task& task) {
  using pages = pmemobj_home::pages;
  return make_stamp_on<pmemobj_home>(task, task.path, task.size,
                                     kind.name == pmemobj_huge ? pages::huge : pages::as_they_come);
}

std::unique_ptr<stamp_system> make_pmemobj_elements_stamp(const stamp_kind&,
                                                          const stamp_task& task) {
  return make_stamp_on<pmemobj_elements_home>(task, task.path, task.size,
                                              pmemobj_pages::as_they_come);
}

}  // namespace scute::bench

#endif
