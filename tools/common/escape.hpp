// SPDX-License-Identifier: BSD-3-Clause
// escape.hpp: bytes in the form of `scute kv load` and `scute
// kv scan`, one line each; see scute(1).
#pragma once

#include <string>
#include <string_view>

namespace scute_tools {

// Tab, newline, return, zero and backslash become \t \n \r \0 and two backslashes.
std::string escape(std::string_view bytes);

}  // namespace scute_tools
