// SPDX-License-Identifier: BSD-3-Clause
// other_kind.hpp: a pool given to a command for persist-on-write files, or the other way round.
#pragma once

#include "failure.hpp"

#include <string>

namespace scute_tool {

enum class file_kind : uint8_t { pool, persist_on_write };

// To be thrown where the library says that the file at path is not of that kind.
failure not_of_kind(file_kind wanted, const std::string& path, const scute::error& error);

}  // namespace scute_tool
