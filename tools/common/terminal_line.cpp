// SPDX-License-Identifier: BSD-3-Clause
#include "terminal_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace scute_tools {
namespace {

using namespace std::chrono_literals;
constexpr auto on_terminals = 100ms;

size_t width_of(std::FILE* to) {
  winsize size{};
  if (ioctl(::fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string bar_text(double fraction, size_t width) {
  const auto full =
      static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

terminal_line::terminal_line(std::FILE* to, bool quiet, clock::duration elsewhere)
    : to_(to), quiet_(quiet), terminal_(::isatty(::fileno(to)) == 1), elsewhere_(elsewhere) {}

size_t terminal_line::room() const noexcept {
  return terminal_ ? width_of(to_) - 1 : std::string::npos;
}

bool terminal_line::is_due() noexcept {
  if (quiet_ || (!terminal_ && elsewhere_ == clock::duration::zero())) return false;
  const auto now = clock::now();
  if (now - shown_at_ < (terminal_ ? clock::duration(on_terminals) : elsewhere_)) return false;
  shown_at_ = now;
  return true;
}

void terminal_line::show(std::string text) {
  if (quiet_) return;
  if (terminal_) {
    text.resize(std::min(text.size(), room()));
    write("\r" + text + "\x1b[K");
    shown_ = true;
  } else if (elsewhere_ != clock::duration::zero()) {
    write(text + "\n");
  }
}

void terminal_line::clear() {
  if (shown_) write("\r\x1b[K");
  shown_ = false;
}

void terminal_line::write(const std::string& text) const noexcept {
  std::fwrite(text.data(), 1, text.size(), to_);
  std::fflush(to_);
}

}  // namespace scute_tools
