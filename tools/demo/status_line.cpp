// SPDX-License-Identifier: BSD-3-Clause
#include "status_line.hpp"

#include "stop_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace scute_demo {

using namespace std::chrono_literals;

status_line::status_line() : line_(stdout, false, 5s) {}

void status_line::show(const std::string& step, double fraction, const std::string& text) {
  check_stop_request();
  if (!line_.is_due()) return;
  const double part = std::clamp(fraction, 0.0, 1.0);
  line_.show(line_.is_terminal() ? fmt::format("{:<10} {} {:3.0f}%  {}", step,
                                               scute_tools::bar_text(part), part * 100, text)
                                 : fmt::format("{:<10} {:3.0f}%  {}", step, part * 100, text));
}

void status_line::done(const std::string& step, const std::string& text) {
  line_.clear();
  fmt::print("{:<10} {}\n", step, text);
  std::fflush(stdout);
}

}  // namespace scute_demo
