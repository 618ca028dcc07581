// SPDX-License-Identifier: BSD-3-Clause
#include "sidecar.hpp"

#include "failure.hpp"

#include <scute/shield.h>

#include <filesystem>
#include <system_error>

namespace scute_tool {

std::string sidecar_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_symlink(file, error)) return file + ".scute";
  const std::string real = std::filesystem::canonical(file, error).string();
  return (error ? file : real) + ".scute";
}

std::string protection_of(const std::string& file) {
  scute_shield_condition condition{};
  const int result = scute_shield_look(failure::library_path(file).c_str(), &condition, nullptr);
  if (result == SCUTE_E_NOENT) return {};
  if (result == SCUTE_E_INVALID || result == SCUTE_E_FORMAT) check(result, file);
  return sidecar_of(file);  // its opening reports other faults
}

}  // namespace scute_tool
