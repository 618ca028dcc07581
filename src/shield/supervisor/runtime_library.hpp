// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a file is the shield's runtime. The dynamic linker only warns if it cannot load a
// preloaded library; the program would then run without protection.
#pragma once

#include <string>

namespace scute::core::supervisor {

// Returns true for a shared library for this kind of processor that defines the runtime's
// functions. False: it is not, or cannot be read.
bool is_runtime_library(const std::string& path);

}  // namespace scute::core::supervisor
