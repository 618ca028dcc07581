// SPDX-License-Identifier: BSD-3-Clause
// What is in the way of a new pool.
#pragma once

#include <string>

namespace scute::core {

// True if there is a pool at path that nobody uses; false if there is nothing. Anything else is
// left alone: SCUTE_E_EXISTS.
bool replaceable(const std::string& path);

}  // namespace scute::core
