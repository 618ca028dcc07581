// SPDX-License-Identifier: BSD-3-Clause
#include "status_line.hpp"

#include "stop_request.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace scute_demo {

namespace {
using namespace std::chrono_literals;
constexpr auto bar_interval = 100ms;
constexpr auto line_interval = 5s;
}  // namespace

status_line::status_line() : terminal_(isatty(STDOUT_FILENO) == 1), printed_(clock::now()) {}

void status_line::show(const std::string& step, double fraction, const std::string& text) {
  check_stop_request();
  const auto now = clock::now();
  const auto interval = terminal_ ? clock::duration(bar_interval) : clock::duration(line_interval);
  if (now - printed_ < interval) return;
  printed_ = now;
  const double part = std::clamp(fraction, 0.0, 1.0);
  if (!terminal_) {
    fmt::print("{:<10} {:3.0f}%  {}\n", step, part * 100, text);
  } else {
    constexpr size_t width = 24;
    const auto full = static_cast<size_t>(part * width);
    fmt::print("\r{:<10} [{}{}] {:3.0f}%  {}\x1b[K", step, std::string(full, '#'),
               std::string(width - full, '.'), part * 100, text);
    shown_ = true;
  }
  std::fflush(stdout);
}

void status_line::done(const std::string& step, const std::string& text) {
  clear();
  fmt::print("{:<10} {}\n", step, text);
  std::fflush(stdout);
}

void status_line::clear() {
  if (shown_) fmt::print("\r\x1b[K");
  shown_ = false;
}

}  // namespace scute_demo
