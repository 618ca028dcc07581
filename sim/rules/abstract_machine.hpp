// SPDX-License-Identifier: BSD-3-Clause
// Hardware SpecPMT without time and bytes: two threads, a few pages of a few lines, whatever may
// happen next chosen at random - stores, commits step by step, evictions of lines and translations,
// copying of pages, new epochs, reclamation, power failures in which any part of the logs' ends is
// durable, and recoveries that fail again. After each recovery every line must be what the
// transactions that are committed have made of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/records.hpp"

namespace scute::sim {

class abstract_machine {
 public:
  static constexpr unsigned threads = 2, pages = 2, lines_of_page_here = 2,
                            lines = pages * lines_of_page_here, epochs_max = 3;

  abstract_machine(const rule_set& rules, uint64_t seed);

  // One step. Returns false if it was a power failure whose recovery brought a wrong line.
  bool step();
  // The steps since the last power failure that was survived, in words; for a failure's report.
  const std::vector<std::string>& story() const noexcept { return story_; }
  uint64_t crashes() const noexcept { return crashes_; }

 private:
  struct cached {
    bool dirty = false, pbit = false, logbit = false;
  };
  struct epoch {
    uint64_t start, end;  // end 0: the current one
    bool active;          // its id is in use
  };
  struct copying {
    bool on = false;
    uint64_t start = 0;
    uint32_t transaction = 0;
    unsigned next = 0;
    std::array<uint32_t, lines_of_page_here> values{};
  };
  struct thread_state {
    bool open = false;
    unsigned phase = 0;  // of the commit
    uint32_t transaction = 0;
    std::array<cached, lines> l1;
    std::array<unsigned, pages> hot{};  // number of the epoch, 0: cold
    std::array<copying, pages> copy;
    std::vector<log_record> log;
    size_t durable = 0;  // records of the log
    std::vector<epoch> epochs;
    std::vector<unsigned> epoch_of;  // by record
    std::vector<log_record> page_log;
    std::vector<unsigned> page_epoch_of;
  };
  struct change {
    uint32_t transaction, value;
  };

  unsigned roll(unsigned n);
  void say(const std::string& what);
  void append(unsigned t, record_kind kind, uint64_t line, uint32_t value, uint64_t time);
  bool on_log(const thread_state& s, unsigned line) const;
  void begin(unsigned t);
  void cool_others(unsigned t, unsigned page);
  void store(unsigned t, unsigned line);
  void leave_l1(unsigned t, unsigned line);
  void leave_l2(unsigned line);
  void write(unsigned line);
  void copy_step(unsigned t, unsigned page);
  void commit_step(unsigned t);
  void new_epoch(unsigned t);
  void drop_records();
  void lose_end(thread_state& s);
  bool crash();
  bool recover(const std::vector<log_record>& durable);

  rule_set rules_;
  uint64_t random_;
  uint64_t clock_ = 0, truncation_point_ = 0, crashes_ = 0;
  uint32_t next_transaction_ = 1, next_value_ = 1;
  std::array<uint32_t, lines> view_{}, place_{};  // in the caches, in the memory
  std::array<bool, lines> l2_dirty_{};
  std::array<std::vector<change>, lines> history_;
  std::vector<std::vector<uint32_t>> page_values_;
  std::array<thread_state, threads> threads_;
  std::vector<std::string> story_;
};

}  // namespace scute::sim
