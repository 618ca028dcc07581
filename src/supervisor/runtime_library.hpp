// SPDX-License-Identifier: BSD-3-Clause
// Whether a file is the shield's runtime. The dynamic linker only warns of what it cannot load
// before a program, which would then run without protection.
#pragma once

#include <string>

namespace scute::core::supervisor {

// A shared library for this kind of processor that defines the runtime's functions. False: it is
// not, or cannot be read.
bool is_runtime_library(const std::string& path);

}  // namespace scute::core::supervisor
