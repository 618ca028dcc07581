// SPDX-License-Identifier: BSD-3-Clause
#include "systems/ents_on.hpp"
#include "systems/scute_home.hpp"

namespace scute::bench {

std::unique_ptr<ents_system> make_scute_ents(const ents_kind& kind, const ents_task& task) {
  scute_options o = pool_options(kind.config, ents_pool_size(task));
  o.flags |= SCUTE_PREALLOCATE;
  return make_ents_on<scute_home>(task, task.path, o);
}

}  // namespace scute::bench
