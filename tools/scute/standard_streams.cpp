// SPDX-License-Identifier: BSD-3-Clause
#include "standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace scute_tool {

bool open_standard_streams() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one: those below are open by now. A folder can neither
    // be read from nor written to, and there is always this one.
    // A program that this one runs finds it closed, as it was.
    if (open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) != fd) return false;
  }
  return true;
}

void print_error(const std::string& text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace scute_tool
