// SPDX-License-Identifier: BSD-3-Clause
// terminal_line.hpp: how far a long command has come: one changing line on a terminal, a plain line
// now and then elsewhere, nothing when quiet. A failed report is no reason to fail.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace scute_tools {

inline constexpr size_t bar_width = 24;
// [####......], that wide between the brackets; fraction 0..1.
std::string bar_text(double fraction, size_t width = bar_width);

// One thread has it.
class terminal_line {
 public:
  using clock = std::chrono::steady_clock;

  // `elsewhere`: the time between two plain lines where `to` is no terminal; zero: no lines there.
  terminal_line(std::FILE* to, bool quiet, clock::duration elsewhere);
  ~terminal_line() { clear(); }
  terminal_line(const terminal_line&) = delete;
  terminal_line& operator=(const terminal_line&) = delete;

  bool is_terminal() const noexcept { return terminal_; }
  // The characters that fit into a line; unlimited where `to` is no terminal.
  size_t room() const noexcept;
  // True as often as a line should be shown; the time runs from the last one that was due.
  bool is_due() noexcept;
  // Cut to the width of the terminal.
  void show(std::string text);
  // Takes the line off the screen, so that what is printed next starts on a clean one.
  void clear();
  // The time runs from now.
  void rest() noexcept { shown_at_ = clock::now(); }

 private:
  void write(const std::string& text) const noexcept;

  std::FILE* to_;
  bool quiet_, terminal_, shown_ = false;
  clock::duration elsewhere_;
  clock::time_point shown_at_ = clock::now();
};

}  // namespace scute_tools
