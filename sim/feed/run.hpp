// SPDX-License-Identifier: BSD-3-Clause
// One program on one machine under one scheme: takes the instructions and marks that a front end hands over, whatever
// it is, and says at the end what they cost.
//
// RUN-1 Of the cores that can go on, the one whose time is least does.
// RUN-2 Who takes a lock has it not before its last release.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "guest/marks.hpp"
#include "machine/machine.hpp"
#include "schemes/scheme.hpp"

namespace scute::sim {

class run {
 public:
  run(const settings& s, std::string_view scheme_name);

  // False before the start mark, after the stop mark and in pauses: what is handed over then is ignored.
  bool is_on() const noexcept { return started_ && !paused_; }
  void execute(const operation& op, std::span<const reference> refs) {
    if (is_on()) machine_.cores[core_].run(op, refs);
  }
  void enter_block(uint64_t address) {
    if (is_on()) machine_.cores[core_].enter_block(address);
  }
  // Returns what the program is answered.
  uint64_t take(mark what, uint64_t a, uint64_t b);

  struct result {
    double ns = 0;  // from start to stop
    uint64_t instructions = 0, loads = 0, stores = 0, write_backs = 0, fences = 0;
    uint64_t l1_misses = 0, l2_misses = 0, tlb_misses = 0, mispredicted = 0;
    uint64_t pm_lines = 0, pm_reads = 0, footprint = 0;
    double pm_waited_ns = 0, fenced_ns = 0;
    scheme::counts of_scheme;
  };
  result results() const;
  machine& on() noexcept { return machine_; }
  scheme& by() noexcept { return *scheme_; }

 private:
  machine machine_;
  std::unique_ptr<scheme> scheme_;
  unsigned core_ = 0;
  bool started_ = false, paused_ = false;
  ticks stopped_ = 0;
  uint64_t footprint_ = 0;
  std::unordered_map<uint64_t, ticks> released_;  // by lock
};

// As one line of JSON, with the machine's numbers where they are not those of the defaults.
std::string to_json(const run::result& r, const settings& s, std::string_view scheme_name,
                    std::string_view work, std::string_view machine_name);

}  // namespace scute::sim
