// SPDX-License-Identifier: BSD-3-Clause
#include "meter.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace scute_torture {

namespace {
using namespace std::chrono_literals;
constexpr auto bar_interval = 100ms;
constexpr auto line_interval = 5s;
}  // namespace

meter::meter(bool quiet)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      began_(clock::now()),
      printed_(began_) {}

double meter::seconds() const {
  return std::chrono::duration<double>(clock::now() - began_).count();
}

void meter::show(double fraction, uint64_t kills, uint64_t transactions) {
  const auto now = clock::now();
  if (quiet_ || now - printed_ < (terminal_ ? clock::duration(bar_interval) : line_interval))
    return;
  printed_ = now;
  const double elapsed = std::max(seconds(), 1e-3);
  std::string line = "torture";
  if (fraction >= 0) {
    const double part = std::clamp(fraction, 0.0, 1.0);
    constexpr size_t width = 24;
    const auto full = static_cast<size_t>(part * width);
    if (terminal_)
      line += fmt::format(" [{}{}]", std::string(full, '#'), std::string(width - full, '.'));
    line += fmt::format(" {:3.0f}%", part * 100);
    if (part > 0.01) line += fmt::format("  ETA {:.0f} s", elapsed / part - elapsed);
  }
  line += fmt::format("  {} kills ({:.1f}/s)  {} transactions ({:.0f}/s)", kills,
                      static_cast<double>(kills) / elapsed, transactions,
                      static_cast<double>(transactions) / elapsed);
  if (terminal_)
    fmt::print(stderr, "\r{}\x1b[K", line);
  else
    fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
  shown_ = terminal_;
}

void meter::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace scute_torture
