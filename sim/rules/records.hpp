// SPDX-License-Identifier: BSD-3-Clause
// The log records of hardware SpecPMT, and which of them recovery takes for a line. Used by the
// abstract machine (rules/abstract_machine.hpp) and by the scheme on the simulated one
// (schemes/spec_hpmt.hpp).
//
// The paper (5.1.1) replays in three steps: uncommitted page records, uncommitted undo records,
// committed speculative records by the times of their transactions. That is unsound;
// docs/internals/simulator.md shows why. Instead, for each line:
//
// HPMT-1 The first record of an uncommitted transaction wins over everything if it is an undo
//    record. (If it is a speculative one, the line was hot and has committed records; undo records
//    after it hold uncommitted bytes.)
// HPMT-2 Otherwise the newest record of a committed transaction decides, undo records included: a
//    speculative one is replayed; an undo record means that what is in place was durable at that
//    commit, and stays.
// HPMT-3 The copying of a page begins between its core's transactions: no page record is
//        uncommitted.
// HPMT-4 A page record says nothing of a line that another transaction had open when it was copied.
// HPMT-5 Times continue where they were after a restart: above the truncation point, and above all
//        records.
// HPMT-6 A page record's time is that at which its copying began; other records have that of their
//        commit.
// HPMT-7 An undo-logged line that leaves the first cache in its transaction is written to the
//        memory at once.
// HPMT-8 A page that was cold to a transaction is cold to all other cores, and not being copied by
//    them, before its commit lets others store to the lines.
// HPMT-9 Records are dropped by one durable time, the truncation point, before which no active
//    epoch began; the lines that they name are durable before. So no record outlives a newer one.
// HPMT-10 A hot line that leaves the first cache in its transaction is logged, durably, before:
//         HPMT-4 rests on it.
// HPMT-11 An undo record is durable before its line is written to the memory.
// HPMT-12 Undo-logged lines are durable before the commit record is.
// HPMT-13 A log counts up to the first record that is missing. Page records have a log of their
//    own: such a record is complete when the core's other records up to its end are durable, and
//    the page is hot from then on.
// HPMT-14 Recovery moves the truncation point past all records, durably, after what it restored and
//         before anything begins.
// HPMT-15 A line that was undo-logged on a page which is hot or being copied by now is logged like
//    a hot one, too, when it is committed or leaves the first cache: later stores to it will rest
//    on that record.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace scute::sim {

struct rule_set {
  bool first_undo_wins = true, undo_counts = true, copying_between = true,
       page_leaves_out_open = true, times_go_on = true, page_time_is_start = true,
       undo_line_written_on_eviction = true, one_truncation_point = true,
       log_before_eviction = true, undo_before_line = true, line_before_commit = true,
       log_in_order = true, recovery_moves_truncation_point = true, commit_cools = true,
       undo_line_logged_too = true;
  bool operator==(const rule_set&) const = default;
};

// The rules that the paper states, where it states any.
rule_set rules_of_paper();
// Each rule by its name "HPMT-n": to leave out one.
struct named_rule {
  const char* name;
  bool rule_set::* rule;
};
std::span<const named_rule> all_rules();

enum class record_kind : uint8_t { undo, line, page, commit };

struct log_record {
  record_kind kind;
  uint8_t thread;
  uint32_t
      transaction;  // unique; of a page record: in which its copying began. 0 is always committed
  uint64_t time;    // when it was made; page: when its copying began; commit: of the commit
  uint64_t end;     // page: when its copying ended
  uint64_t line;    // page: the first line
  uint32_t lines;   // that it covers
  uint32_t bytes;   // index of the first line's old or new bytes, for a caller that keeps them
};

// The input of recovery: the records that are durable, each thread's in the order of its log.
class recovery {
 public:
  recovery(std::span<const log_record> records, uint64_t truncation_point, const rule_set& rules);

  // The record to restore a line from, or null if what is in place stays.
  const log_record* source_for(uint64_t line) const;
  bool committed(uint32_t transaction) const { return commit_time(transaction) != 0; }
  // Above all that was seen.
  uint64_t next_time() const noexcept { return next_time_; }

 private:
  uint64_t commit_time(uint32_t transaction) const;
  uint64_t time_of(const log_record& r, uint64_t commit) const;
  const log_record* by_paper(uint64_t line) const;
  bool open_elsewhere(const log_record& page, uint64_t line) const;

  rule_set rules_;
  std::vector<log_record> records_;
  struct commit_of {
    uint32_t transaction;
    uint64_t time;
  };
  std::vector<commit_of> commits_;  // by transaction
  uint64_t next_time_;
};

}  // namespace scute::sim
