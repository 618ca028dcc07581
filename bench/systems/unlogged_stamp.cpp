// SPDX-License-Identifier: BSD-3-Clause
#include "systems/stamp_on.hpp"
#include "systems/unlogged_home.hpp"

namespace scute::bench {

std::unique_ptr<stamp_system> make_unlogged_stamp(const stamp_kind&, const stamp_task& task) {
  return make_stamp_on<unlogged_home>(task, task.path, task.size);
}

}  // namespace scute::bench
