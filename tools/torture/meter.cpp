// SPDX-License-Identifier: BSD-3-Clause
#include "meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace scute_torture {

using namespace std::chrono_literals;

meter::meter(bool quiet) : line_(stderr, quiet, 5s) {}

double meter::seconds() const {
  return std::chrono::duration<double>(clock::now() - began_).count();
}

void meter::show(double fraction, uint64_t kills, uint64_t transactions) {
  if (!line_.is_due()) return;
  const double elapsed = std::max(seconds(), 1e-3);
  std::string line = "torture";
  if (fraction >= 0) {
    const double part = std::clamp(fraction, 0.0, 1.0);
    if (line_.is_terminal()) line += " " + scute_tools::bar_text(part);
    line += fmt::format(" {:3.0f}%", part * 100);
    if (part > 0.01) line += fmt::format("  ETA {:.0f} s", elapsed / part - elapsed);
  }
  line += fmt::format("  {} kills ({:.1f}/s)  {} transactions ({:.0f}/s)", kills,
                      static_cast<double>(kills) / elapsed, transactions,
                      static_cast<double>(transactions) / elapsed);
  line_.show(line);
}

}  // namespace scute_torture
