// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace scute_campaign {

progress_line::progress_line(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void progress_line::show(double fraction, const std::string& text) {
  using namespace std::chrono_literals;
  const auto now = clock::now();
  if (quiet_ || now - told_ < (terminal_ ? 200ms : 60s)) return;
  told_ = now;
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  std::string left;
  if (fraction > 0.01 && seconds > 2) {
    const auto rest = static_cast<unsigned>(seconds / fraction * (1 - fraction));
    left = fmt::format(", {}:{:02} left", rest / 60, rest % 60);
  }
  fmt::print(stderr, "{}{:3.0f} %{}: {}{}", terminal_ ? "\r\033[K" : "", fraction * 100, left, text,
             terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::clear() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace scute_campaign
