// SPDX-License-Identifier: BSD-3-Clause
// If the process dies while a state is judged (an assertion, a fault), it still says which one.
#pragma once

#include <string>

namespace scute::testing {

class last_words {
 public:
  // Handles SIGABRT, SIGSEGV, SIGBUS, SIGILL and SIGFPE until destroyed; then what was there before
  // handles them again.
  last_words();
  ~last_words();
  last_words(const last_words&) = delete;
  last_words& operator=(const last_words&) = delete;

  // The text to print. The text is copied.
  static void say(const std::string& text) noexcept;
};

}  // namespace scute::testing
