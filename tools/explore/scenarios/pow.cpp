// SPDX-License-Identifier: BSD-3-Clause
// Persist-on-write files. Their scenarios are about the core, and lie with its tests.
#include "pow/scenarios.hpp"

#include "scenarios/catalogue.hpp"

namespace scute::explore {

void add_pow_scenarios(std::vector<entry>& to) {
  for (const auto& e : testing::pow_scenarios())
    to.push_back(
        {"pow/" + e.name, "persist-on-write files", [make = e.make](uint64_t) { return make(); }});
}

}  // namespace scute::explore
