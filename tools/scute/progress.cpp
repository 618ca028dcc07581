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
  double fraction = 0;
  std::string percent, amount = "  " + size_text(done), time_left;
  if (total > 0) {
    fraction = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    percent = fmt::format(" {:3.0f}%", fraction * 100);
    amount += " of " + size_text(total);
  }
  if (total > done && rate > 0)
    time_left = "  ETA " + time_left_text(static_cast<double>(total - done) / rate);
  std::string speed = fmt::format("  {}/s", size_text(static_cast<uint64_t>(rate)));
  // A narrow terminal shows fewer facts, never a part of one: the speed goes first, then the
  // amount, then the time.
  for (std::string* fact : {&speed, &amount, &time_left}) {
    if (what_.size() + percent.size() + amount.size() + speed.size() + time_left.size() <=
        line_.room())
      break;
    fact->clear();
  }
  std::string facts = percent + amount + speed + time_left;
  // On a narrow terminal the bar gets shorter, then the note goes, then the bar.
  constexpr size_t shortest = 8, around = 3;  // a space and the brackets
  const size_t room = line_.room() - std::min(line_.room(), what_.size() + facts.size());
  const bool with_bar = line_.is_terminal() && total > 0 && room >= shortest + around;
  const size_t beside = with_bar ? shortest + around : 0;
  if (!note.empty() && room >= beside + 2 + note.size()) facts += "  " + note;
  std::string line = what_;
  if (with_bar) {
    const size_t left = line_.room() - what_.size() - facts.size() - around;
    line += " " + scute_tools::bar_text(fraction, std::min(left, scute_tools::bar_width));
  }
  line_.show(line + facts);
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
