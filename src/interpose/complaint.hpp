// SPDX-License-Identifier: BSD-3-Clause
// One line on standard error for what the program's own error number cannot say.
#pragma once

#include <cerrno>
#include <exception>
#include <string>

#include "base/failure.hpp"

namespace scute::core::interpose {

// When the image begins.
void remember_standard_error() noexcept;

// "scute: WHAT: why"; keeps errno. Nothing, where descriptor 2 has become a file or a connection of
// the program's own.
void complain(const std::string& what, const std::string& why) noexcept;

// The error number that comes closest.
int errno_of(const failure& e) noexcept;

// Runs f in the program's place: a failure is reported, becomes errno, and makes -1.
template <class F>
int guarded(const std::string& what, F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (const failure& e) {
    complain(what, e.what());
    errno = errno_of(e);
  } catch (const std::exception&) {
    errno = ENOMEM;
  }
  return -1;
}

}  // namespace scute::core::interpose
