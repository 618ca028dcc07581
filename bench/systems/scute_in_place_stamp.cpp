// SPDX-License-Identifier: BSD-3-Clause
#include "systems/scute_home.hpp"
#include "systems/stamp_on.hpp"

namespace scute::bench {
namespace {

template <class Home>
std::unique_ptr<stamp_system> make(const stamp_kind& kind, const stamp_task& task) {
  scute_options o = pool_options(kind.pool, task.size);
  o.flags |= SCUTE_PREALLOCATE;
  o.log_cap = task.log_cap;
  return make_stamp_on<Home>(task, task.path, o);
}

}  // namespace

std::unique_ptr<stamp_system> make_scute_in_place_stamp(const stamp_kind& kind,
                                                        const stamp_task& task) {
  return make<scute_in_place_home>(kind, task);
}
std::unique_ptr<stamp_system> make_scute_flushing_stamp(const stamp_kind& kind,
                                                        const stamp_task& task) {
  return make<scute_flushing_home>(kind, task);
}

}  // namespace scute::bench
