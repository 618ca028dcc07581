// SPDX-License-Identifier: BSD-3-Clause
// base64.hpp: RFC 4648, section 4, for bytes that JSON strings cannot hold.
#pragma once

#include <string>
#include <string_view>

namespace scute_tool {

std::string base64_encode(std::string_view bytes);

// Throws std::invalid_argument.
std::string base64_decode(std::string_view text);

}  // namespace scute_tool
