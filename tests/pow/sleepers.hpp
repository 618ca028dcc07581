// SPDX-License-Identifier: BSD-3-Clause
// Threads of this process that wait for something.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace scute::test {

// The thread is off the processor, as the system says it: it does not spin.
inline bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] == 'S';
}

}  // namespace scute::test
