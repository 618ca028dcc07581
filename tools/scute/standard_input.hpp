// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace scute_tool {

// All of it. Throws failure.
std::string read_standard_input();

}  // namespace scute_tool
