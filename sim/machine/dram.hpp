// SPDX-License-Identifier: BSD-3-Clause
// DRAM of one channel by its timings, with a row open in each bank until another one is wanted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/settings.hpp"
#include "machine/ticks.hpp"

namespace scute::sim {

class dram {
 public:
  explicit dram(const settings& s)
      : lines_of_row_(s.dram_row / line_bytes),
        rcd_(from_ns(s.dram_rcd)),
        cl_(from_ns(s.dram_cl)),
        rp_(from_ns(s.dram_rp)),
        ras_(from_ns(s.dram_ras)),
        wr_(from_ns(s.dram_wr)),
        burst_(from_ns(s.dram_burst)),
        way_(from_ns(s.dram_controller / 2)),
        banks_(s.dram_banks) {}

  // Asked for at that time, from the last cache on; when the line is there.
  ticks read(uint64_t line, ticks at) noexcept {
    ++reads;
    return access(line, at + way_, 0) + way_;
  }
  // No operation waits for it.
  void write(uint64_t line, ticks at) noexcept {
    ++writes;
    access(line, at + way_, wr_);
  }

  uint64_t reads = 0, writes = 0;

 private:
  struct bank {
    uint64_t row = UINT64_MAX;
    ticks ready = 0, opened = 0;
  };

  ticks access(uint64_t line, ticks at, ticks recovery) noexcept {
    const uint64_t row = line / lines_of_row_;
    bank& b = banks_[row % banks_.size()];
    ticks command = at > b.ready ? at : b.ready;
    if (b.row != row) {
      if (b.row != UINT64_MAX) command = std::max(command, b.opened + ras_) + rp_;
      b.opened = command;
      b.row = row;
      command += rcd_;
    }
    const ticks data = std::max(command + cl_, bus_);
    bus_ = data + burst_;
    b.ready = command + burst_ + recovery;
    return bus_;
  }

  uint64_t lines_of_row_;
  ticks rcd_, cl_, rp_, ras_, wr_, burst_, way_;
  std::vector<bank> banks_;
  ticks bus_ = 0;
};

}  // namespace scute::sim
