// SPDX-License-Identifier: BSD-3-Clause
#include "systems/stamp_on.hpp"
#include "systems/volatile_home.hpp"

namespace scute::bench {

std::unique_ptr<stamp_system> make_volatile_stamp(const stamp_kind&, const stamp_task& task) {
  return make_stamp_on<volatile_home>(task);
}

}  // namespace scute::bench
