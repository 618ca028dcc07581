// SPDX-License-Identifier: BSD-3-Clause
// sidecar.hpp: FILE.scute, by the name of the file that it protects.
#pragma once

#include <string>

namespace scute_tool {

// Of the file at the end of a symbolic link. There need be none.
std::string sidecar_of(const std::string& file);

// The same of a file that is protected, as far as is known without opening its pool. Empty: there
// is none. Throws failure: it protects no file, or another one.
std::string protection_of(const std::string& file);

}  // namespace scute_tool
