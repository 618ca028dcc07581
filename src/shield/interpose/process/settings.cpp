// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/settings.hpp"

#include <cstdlib>

#include "shield/supervisor/wire.hpp"

namespace scute::core::interpose {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

const settings& asked() {
  static const settings& s = *new settings{variable(supervisor::windows_variable) != "off",
                                           variable(supervisor::unflushed_variable) != "drop",
                                           variable(supervisor::allow_variable),
                                           variable(supervisor::supervisor_variable),
                                           variable(supervisor::audit_variable) == "sites",
                                           variable(supervisor::memory_variable),
                                           variable(supervisor::views_variable),
                                           variable(supervisor::pages_variable) == "touched",
                                           variable(supervisor::pages_variable) == "huge",
                                           variable(supervisor::strays_variable)};
  return s;
}

}  // namespace scute::core::interpose
