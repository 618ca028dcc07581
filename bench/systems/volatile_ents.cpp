// SPDX-License-Identifier: BSD-3-Clause
#include "systems/ents_on.hpp"
#include "systems/volatile_home.hpp"

namespace scute::bench {

std::unique_ptr<ents_system> make_volatile_ents(const ents_kind&, const ents_task& task) {
  return make_ents_on<volatile_home>(task);
}

}  // namespace scute::bench
