// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.hpp"

#include <fmt/format.h>

namespace scute_campaign {

using namespace std::chrono_literals;

progress_line::progress_line(bool quiet) : line_(stderr, quiet, 60s) {}

void progress_line::show(double fraction, const std::string& text) {
  if (!line_.is_due()) return;
  const double seconds = std::chrono::duration<double>(clock::now() - begun_).count();
  std::string left;
  if (fraction > 0.01 && seconds > 2) {
    const auto rest = static_cast<unsigned>(seconds / fraction * (1 - fraction));
    left = fmt::format(", {}:{:02} left", rest / 60, rest % 60);
  }
  line_.show(fmt::format("{:3.0f} %{}: {}", fraction * 100, left, text));
}

}  // namespace scute_campaign
