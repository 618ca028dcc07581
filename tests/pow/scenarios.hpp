// SPDX-License-Identifier: BSD-3-Clause
// The scenarios that explore persist-on-write stores. Also the homes of their planted bugs
// (tests/planted).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pow_subject.hpp"

namespace scute::testing {

using pow_scenario = scenario_of<pow_subject>;

struct pow_entry {
  std::string name;
  std::function<pow_scenario()> make;
};

const std::vector<pow_entry>& pow_scenarios();

}  // namespace scute::testing
