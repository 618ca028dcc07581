// SPDX-License-Identifier: BSD-3-Clause
// failure.hpp: how a subcommand gives up. main() prints `scute: <what>: <why>` and exits.
#pragma once

#include "exit_code.hpp"

#include <scute/error.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace scute_tool {

class failure : public std::runtime_error {
 public:
  failure(exit_code code, const std::string& what, const std::string& why)
      : std::runtime_error(what + ": " + why), code_(code) {}

  // What the library reported while working on `what`.
  failure(const std::string& what, const scute::error& error)
      : failure(exit_code_of(error.code().value()), what, message_of(error)) {}

  exit_code code() const noexcept { return code_; }

 private:
  // std::system_error appends the name of the code, which says no more than the message.
  static std::string message_of(const scute::error& error) {
    std::string text = error.what();
    const std::string suffix = ": " + error.code().message();
    if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
    return text;
  }

  exit_code code_;
};

// Runs f(), turning the library's errors into failures about `what`.
template <class F>
decltype(auto) working_on(const std::string& what, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const scute::error& error) {
    throw failure(what, error);
  }
}

// Throws the failure that a negative SCUTE_E_* result stands for; returns the result otherwise.
inline int check(int result, const std::string& what) {
  if (result < 0) throw failure(exit_code_of(result), what, scute_errormsg());
  return result;
}

}  // namespace scute_tool
