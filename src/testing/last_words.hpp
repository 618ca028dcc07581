// SPDX-License-Identifier: BSD-3-Clause
// If the process dies while it verifies a state (an assertion, a fault), it still prints which one.
#pragma once

#include <string>

namespace scute::testing {

class last_words {
 public:
  // Handles SIGABRT, SIGSEGV, SIGBUS, SIGILL and SIGFPE until destroyed; then the previous handlers
  // are restored.
  last_words();
  ~last_words();
  last_words(const last_words&) = delete;
  last_words& operator=(const last_words&) = delete;

  // Sets the text to print, which is copied.
  static void say(const std::string& text) noexcept;
};

}  // namespace scute::testing
