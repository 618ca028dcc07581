// SPDX-License-Identifier: BSD-3-Clause
#include "standard_input.hpp"

#include "failure.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace scute_tool {

std::string read_standard_input() {
  constexpr size_t step = 64 * 1024;
  std::string bytes;
  for (;;) {
    const size_t old = bytes.size();
    bytes.resize(old + step);
    const ssize_t got = read(STDIN_FILENO, bytes.data() + old, step);
    bytes.resize(old + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return bytes;
    if (got < 0 && errno != EINTR)
      throw failure(exit_error, "standard input", std::generic_category().message(errno));
  }
}

}  // namespace scute_tool
