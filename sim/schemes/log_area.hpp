// SPDX-License-Identifier: BSD-3-Clause
// A core's log in persistent memory, which hardware appends to. A line is sent when it is full, or
// when a caller needs its content; one that was sent half full is sent again.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/memory.hpp"
#include "machine/ticks.hpp"

namespace scute::sim {

class log_area {
 public:
  static constexpr ticks never = UINT64_MAX;
  static constexpr uint64_t bytes_max = uint64_t{1} << 36;

  log_area(memory& m, unsigned number) : memory_(m), base_(log_base + number * bytes_max) {}

  // Returns the number of the appended record, for durable().
  size_t append(unsigned bytes, ticks at) {
    position_ += bytes;
    while (sent_ + line_bytes <= position_) send(at);
    if (keeps_times) {
      ends_.push_back(position_);
      durable_.push_back(never);
      settle(sent_);
    }
    return ends_.size() - 1;
  }
  // When everything so far is durable, at the earliest `at`.
  ticks flush(ticks at) {
    if (position_ != flushed_) {
      if (position_ != sent_) {
        accepted_ = latest(accepted_, memory_.write(line_of(base_ + sent_), at));
        ++lines;
      }
      flushed_ = position_;
      if (keeps_times) settle(position_);
    }
    return latest(at, accepted_);
  }
  // Reserves that many whole lines, which the caller writes; returns the first one.
  uint64_t reserve(unsigned whole_lines) {
    const uint64_t first = line_of(base_ + bytes_max / 2 + reserved_);
    reserved_ += uint64_t{whole_lines} * line_bytes;
    lines += whole_lines;
    return first;
  }

  // With keeps_times: when an appended record was durable; never while its last line was not sent.
  ticks durable(size_t number) const { return durable_[number]; }
  size_t appended() const noexcept { return ends_.size(); }
  uint64_t position() const noexcept { return position_; }

  bool keeps_times = false;
  uint64_t lines = 0;  // sent

 private:
  void send(ticks at) {
    accepted_ = latest(accepted_, memory_.write(line_of(base_ + sent_), at));
    sent_ += line_bytes;
    ++lines;
    flushed_ = sent_ > flushed_ ? sent_ : flushed_;
  }
  // The queue accepts in order, so that a record is durable when its last line is.
  void settle(uint64_t upto) {
    for (; settled_ < ends_.size() && ends_[settled_] <= upto; ++settled_)
      durable_[settled_] = accepted_;
  }

  memory& memory_;
  uint64_t base_, position_ = 0, sent_ = 0, flushed_ = 0, reserved_ = 0;
  ticks accepted_ = 0;
  std::vector<uint64_t> ends_;
  std::vector<ticks> durable_;
  size_t settled_ = 0;
};

}  // namespace scute::sim
