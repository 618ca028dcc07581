// SPDX-License-Identifier: BSD-3-Clause
// Where the project's sources and its build are. The values are compiled into one small file, so
// that all other objects are the same in every checkout and a compiler cache can share them.
#pragma once

#include <string>

namespace scute::test {

// Absolute paths, without a slash at the end.
extern const char* const source_folder;
extern const char* const build_folder;
// The scute command.
extern const char* const scute_command;

// The absolute path of a file of the source tree.
inline std::string source_path(const std::string& file) {
  return std::string(source_folder) + "/" + file;
}

}  // namespace scute::test
