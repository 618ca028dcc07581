// SPDX-License-Identifier: BSD-3-Clause
// Views of shielded files. Their programs and the reference of x86 lie with the tests of the view.
#include "view/scenarios.hpp"

#include "scenarios/catalogue.hpp"

namespace scute::explore {

void add_view_scenarios(std::vector<entry>& to) {
  for (const auto& e : testing::view_scenarios()) to.push_back({e.name, e.about, {}, e.explore});
}

}  // namespace scute::explore
