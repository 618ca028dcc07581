// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace scute::bench {

// The kind of file system that a folder is on, as the kernel calls it; or "unknown".
std::string file_system_of(const std::string& dir);

}  // namespace scute::bench
