// SPDX-License-Identifier: BSD-3-Clause
// Writes a line on standard error for errors that the program's errno cannot express.
#pragma once

#include <cerrno>
#include <exception>
#include <string>

#include "base/failure.hpp"

namespace scute::core::interpose {

// Called when the image begins.
void remember_standard_error() noexcept;

// Writes "scute: WHAT: why"; keeps errno. Writes nothing if descriptor 2 has become a file or a
// connection of the program.
void complain(const std::string& what, const std::string& why) noexcept;

// The closest error number.
int errno_of(const failure& e) noexcept;

// Runs f for the program: reports a failure, sets errno by it, and returns -1.
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
