// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace scute_tool {

namespace {

using namespace std::chrono_literals;

constexpr auto bar_interval = 100ms;
constexpr auto line_interval = 5s;

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string bar_text(double fraction) {
  constexpr size_t width = 24;
  const auto full = static_cast<size_t>(fraction * width);
  return std::string(full, '#') + std::string(width - full, '.');
}

}  // namespace

progress::progress(bool quiet)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      began_(clock::now()),
      printed_(began_) {}

void progress::update(const std::string& what, uint64_t done, uint64_t total,
                      const std::string& note) {
  if (quiet_) return;
  const auto now = clock::now();
  if (what != what_) {
    finish();
    what_ = what;
    began_ = now;
    printed_ = now;
    first_ = done;
    return;
  }
  if (now - printed_ < (terminal_ ? clock::duration(bar_interval) : clock::duration(line_interval)))
    return;
  printed_ = now;

  const double elapsed = std::chrono::duration<double>(now - began_).count();
  const double rate = static_cast<double>(done - std::min(first_, done)) / elapsed;
  std::string line = what_;
  if (total > 0) {
    const double fraction = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    if (terminal_) line += fmt::format(" [{}]", bar_text(fraction));
    line += fmt::format(" {:3.0f}%  {} of {}", fraction * 100, size_text(done), size_text(total));
  } else {
    line += "  " + size_text(done);
  }
  line += fmt::format("  {}/s", size_text(static_cast<uint64_t>(rate)));
  if (total > done && rate > 0)
    line += "  ETA " + duration_text(static_cast<double>(total - done) / rate);
  if (!note.empty()) line += "  " + note;

  if (terminal_) {
    line.resize(std::min(line.size(), terminal_width() - 1));
    tell("\r{}\x1b[K", line);
    std::fflush(stderr);
    shown_ = true;
  } else {
    tell("{}\n", line);
  }
}

void progress::finish() {
  if (shown_) {
    tell("\r\x1b[K");
    std::fflush(stderr);
  }
  shown_ = false;
  what_.clear();
}

scute::progress_function progress::callback() {
  return [this](std::string_view what, uint64_t done, uint64_t total) {
    update(std::string(what), done, total);
  };
}

}  // namespace scute_tool
