// SPDX-License-Identifier: BSD-3-Clause
// The scenarios that explore shielded files: they come under the shield, are changed and grow, and
// the power fails at every moment. Also the homes of the planted bugs of foreign pools
// (tests/planted).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foreign_subject.hpp"

namespace scute::testing {

struct foreign_entry {
  std::string name;
  std::string about;
  std::function<basic_scenario()> make;
};

const std::vector<foreign_entry>& foreign_scenarios();

}  // namespace scute::testing
