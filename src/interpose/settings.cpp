// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/settings.hpp"

#include <cstdlib>

#include "holder/wire.hpp"

namespace scute::core::interpose {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

const settings& asked() {
  static const settings& s = *new settings{variable(holder::windows_variable) != "off",
                                           variable(holder::unflushed_variable) != "drop",
                                           variable(holder::allow_variable),
                                           variable(holder::holder_variable),
                                           variable(holder::audit_variable) == "sites",
                                           variable(holder::memory_variable),
                                           variable(holder::views_variable),
                                           variable(holder::pages_variable) == "touched",
                                           variable(holder::pages_variable) == "huge",
                                           variable(holder::strays_variable)};
  return s;
}

}  // namespace scute::core::interpose
