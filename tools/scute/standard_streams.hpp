// SPDX-License-Identifier: BSD-3-Clause
// standard_streams.hpp: standard input, output and error, whatever the command was started with.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace scute_tool {

// Before anything else is opened: of the descriptors 0 to 2, those that are closed are made ones
// that cannot be read from or written to, so that no file gets their numbers and an attempt is an
// error, as if they were closed still. False if that cannot be done.
bool open_standard_streams() noexcept;

// Writes to standard error. A failed report is no reason to fail.
void print_error(const std::string& text) noexcept;

template <typename... T>
void print_error(fmt::format_string<T...> format, T&&... values) {
  print_error(fmt::format(format, std::forward<T>(values)...));
}

}  // namespace scute_tool
