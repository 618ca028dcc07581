// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace scute_tool {

using namespace std::chrono_literals;

progress::progress(bool quiet) : line_(stderr, quiet, 5s) {}

void progress::update(const std::string& what, uint64_t done, uint64_t total,
                      const std::string& note) {
  if (what != what_) {
    finish();
    what_ = what;
    began_ = clock::now();
    line_.rest();
    first_ = done;
    return;
  }
  if (!line_.is_due()) return;

  const double elapsed = std::chrono::duration<double>(clock::now() - began_).count();
  const double rate = static_cast<double>(done - std::min(first_, done)) / elapsed;
  std::string line = what_;
  if (total > 0) {
    const double fraction = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    if (line_.is_terminal()) line += " " + scute_tools::bar_text(fraction);
    line += fmt::format(" {:3.0f}%  {} of {}", fraction * 100, size_text(done), size_text(total));
  } else {
    line += "  " + size_text(done);
  }
  line += fmt::format("  {}/s", size_text(static_cast<uint64_t>(rate)));
  if (total > done && rate > 0)
    line += "  ETA " + duration_text(static_cast<double>(total - done) / rate);
  if (!note.empty()) line += "  " + note;

  line_.show(line);
}

void progress::finish() {
  line_.clear();
  what_.clear();
}

scute::progress_function progress::callback() {
  return [this](std::string_view what, uint64_t done, uint64_t total) {
    update(std::string(what), done, total);
  };
}

}  // namespace scute_tool
