// SPDX-License-Identifier: BSD-3-Clause
// The scenarios that explore the view: random programs of two threads, in random orders, compared
// with the reference (x86_program.hpp) at every moment. Also the homes of the view's planted bugs
// (tests/planted). In a build with planted bugs the threads switch inside the view as well
// (base/locks/waiting.hpp); in others between instructions and around decisions.
#pragma once

#include <scute/exploration.hpp>

#include <functional>
#include <string>
#include <vector>

namespace scute::testing {

struct view_entry {
  std::string name;
  std::string about;
  std::function<exploration(const explore_options&)> explore;
};

const std::vector<view_entry>& view_scenarios();

}  // namespace scute::testing
