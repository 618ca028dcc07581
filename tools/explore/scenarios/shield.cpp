// SPDX-License-Identifier: BSD-3-Clause
// Shielded files. Their scenarios are about the core, and lie with its tests.
#include "shield/scenarios.hpp"

#include "scenarios/catalogue.hpp"

namespace scute::explore {

void add_shield_scenarios(std::vector<entry>& to) {
  for (const auto& e : testing::foreign_scenarios())
    to.push_back({e.name, e.about, [make = e.make](uint64_t) { return make(); }});
}

}  // namespace scute::explore
