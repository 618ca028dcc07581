// SPDX-License-Identifier: BSD-3-Clause
// One program on one machine under one scheme: takes the instructions and marks that a front end
// hands over, whatever it is, and says at the end what they cost.
//
// RUN-1 Of the cores that can continue, the one whose time is least does.
// RUN-2 A core that takes a lock has it not before the lock's last release.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crash/witness.hpp"
#include "guest/marks.hpp"
#include "machine/machine.hpp"
#include "schemes/scheme.hpp"

namespace scute::sim {

class run {
 public:
  run(const settings& s, std::string_view scheme_name);

  // False before the start mark, after the stop mark and in pauses: what is handed over then is
  // ignored.
  bool is_on() const noexcept { return started_ && !paused_; }
  void execute(const operation& op, std::span<const reference> refs) {
    if (is_on()) machine_.cores[core_].run(op, refs);
  }
  void enter_block(uint64_t address, const block_end& before) {
    if (is_on()) machine_.cores[core_].enter_block(address, before);
  }
  // From now on power failures can be verified; `read` hands out the program's memory. Before the
  // start mark.
  void watch_crashes(std::function<std::vector<uint64_t>(uint64_t address, uint64_t bytes)> read) {
    read_ = std::move(read);
  }
  // With watch_crashes(): the word at that address after the instruction that was executed last.
  void stored(uint64_t address, uint64_t word) {
    if (is_on() && witness_ && machine_.mem.is_persistent(line_of(address)))
      witness_->store(core_, address, word, machine_.cores[core_].now());
  }
  witness::crash_result verify(unsigned crashes_max) const { return witness_->verify(crashes_max); }
  // Returns what the program is answered.
  uint64_t take(mark what, uint64_t a, uint64_t b);

  // From `measure` to `over`; where those are missing, from `start` to `stop`.
  struct result {
    double ns = 0;
    uint64_t instructions = 0, loads = 0, stores = 0, write_backs = 0, streamed = 0, fences = 0;
    uint64_t l1_misses = 0, l2_misses = 0, tlb_misses = 0, mispredicted = 0;
    uint64_t pm_lines = 0, pm_reads = 0, footprint = 0;
    double pm_waited_ns = 0, fenced_ns = 0;
    double deferred_ns = 0;  // from `over` to `stop`
    uint64_t deferred_lines = 0, deferred_write_backs = 0, deferred_streamed = 0,
             deferred_fences = 0;
    // By threads of the program that are on no core: not in any of the above.
    uint64_t elsewhere_write_backs = 0, elsewhere_fences = 0;
    std::optional<std::pair<uint64_t, uint64_t>> library;  // fences and lines, as it counts them
    scheme::counts of_scheme;
  };
  result results() const;
  // By a thread that is on no core. Any thread.
  void elsewhere(bool fence) noexcept {
    if (measuring_) ++(fence ? elsewhere_fences_ : elsewhere_write_backs_);
  }
  machine& on() noexcept { return machine_; }
  scheme& by() noexcept { return *scheme_; }

 private:
  result totals() const;

  machine machine_;
  std::unique_ptr<scheme> scheme_;
  unsigned core_ = 0;
  bool started_ = false, paused_ = false;
  std::function<std::vector<uint64_t>(uint64_t, uint64_t)> read_;
  std::vector<std::pair<uint64_t, uint64_t>> persistent_;
  std::unique_ptr<witness> witness_;
  std::optional<result> at_measure_, at_over_, at_stop_;
  std::optional<std::pair<uint64_t, uint64_t>> library_;
  std::atomic<bool> measuring_ = false;
  std::atomic<uint64_t> elsewhere_write_backs_ = 0, elsewhere_fences_ = 0;
  uint64_t footprint_ = 0;
  std::unordered_map<uint64_t, ticks> released_;  // by lock
};

// As one line of JSON, with the machine's numbers where they are not those of the defaults.
std::string to_json(const run::result& r, const settings& s, std::string_view scheme_name,
                    std::string_view work, std::string_view machine_name,
                    const witness::crash_result* crashes = nullptr);

}  // namespace scute::sim
