// SPDX-License-Identifier: BSD-3-Clause
// failure.hpp: how a subcommand gives up. main() prints `scute: <what>: <why>` and exits.
#pragma once

#include "exit_code.hpp"

#include <scute/error.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace scute_tool {

class failure : public std::runtime_error {
 public:
  failure(exit_code code, const std::string& what, const std::string& why)
      : std::runtime_error(what + ": " + why), code_(code) {}

  // The error of the library while working on `what`.
  failure(const std::string& what, const scute::error& error)
      : failure(exit_code_of(error.code().value()), what, without(what, message_of(error))) {}

  exit_code code() const noexcept { return code_; }

  // A path as the library is given it. With a slash in it no other word of a message looks like it.
  static std::string library_path(const std::string& path) {
    return path.find('/') == std::string::npos ? "./" + path : path;
  }

  // The library's messages name the file, and the line begins with it already: says it once. A
  // command in a message, between backquotes, keeps it.
  static std::string without(const std::string& what, std::string why) {
    const std::string path = library_path(what);
    if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
    constexpr std::string_view instead = "this file";
    if (const size_t at = why.find(" at " + path + ";"); at != std::string::npos)
      why.erase(at, path.size() + 4);
    for (size_t at = why.find(path); at != std::string::npos; at = why.find(path, at)) {
      const size_t end = at + path.size();
      // (A point in the name of another file, as that of its log, ends nothing.)
      const size_t last = why.compare(end, 1, ".") == 0 ? end + 1 : end;
      const bool in_command =
          std::count(why.begin(), why.begin() + static_cast<long>(at), '`') % 2 != 0;
      const bool whole =
          !in_command && (at == 0 || why[at - 1] == ' ' || why[at - 1] == '(') &&
          (last == why.size() ||
           std::string_view(last == end ? " :;,)" : " ").find(why[last]) != std::string_view::npos);
      if (whole) why.replace(at, path.size(), instead);
      at += whole ? instead.size() : path.size();
    }
    return why;
  }

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
  if (result < 0)
    throw failure(exit_code_of(result), what, failure::without(what, scute_errormsg()));
  return result;
}

}  // namespace scute_tool
