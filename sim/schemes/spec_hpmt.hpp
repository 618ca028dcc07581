// SPDX-License-Identifier: BSD-3-Clause
// Hardware SpecPMT (section 5 of the paper), by the rules of rules/records.hpp. Lines of cold pages
// are undo-logged when they are stored to; a page that is stored to often is copied into the log
// and is hot from then on: its lines are logged at the end of the transaction and written back when
// the caches please. The records of a core belong to epochs; when an id is wanted again, the lines
// that the oldest epoch's records name are written back and its pages are cold.
#pragma once

#include <deque>
#include <vector>

#include "rules/records.hpp"
#include "schemes/scheme.hpp"

namespace scute::sim {

class spec_hpmt final : public scheme {
 public:
  // With persist_data: hot lines are written back at the end, too (the paper's SpecHPMT-DP).
  spec_hpmt(machine& m, bool persist_data);

  ticks storing(unsigned core, uint64_t address, unsigned bytes, l1_line& l, tlb_page& p,
                ticks at) override;
  ticks leaving_l1(unsigned core, l1_line& l, ticks at) override;
  void leaving_tlb(unsigned core, tlb_page& p) override;
  recovered recover(ticks crash) const override;
  counts counted() const override;

  // By which it works and recovers; before the first transaction. Tests leave rules out. HPMT-3, 5,
  // 6, 13 and 14 are rules of recovery and order that the abstract machine leaves out instead.
  rule_set rules;

 private:
  static constexpr unsigned record_bytes = 72, commit_bytes = 24;

  struct epoch {
    uint64_t start;  // by the scheme's clock
    uint32_t turn;   // counts up, per core
    uint8_t id;      // 1 to 7: 0 is for cold pages
    uint64_t bytes = 0;
    unsigned pages = 0;
    std::vector<uint64_t> lines, copied;  // lines logged, pages copied
  };
  struct kept {
    log_record record;
    unsigned core;
    size_t number;  // in the log; of pages: none
    uint32_t turn;  // of its epoch
    ticks durable;  // of pages; never if it was given up
    std::vector<line_bytes_of> bytes;
  };
  struct copying {
    uint64_t page;
    ticks done = log_area::never;  // set by the engine
    bool over = false;
    size_t record = 0;  // with contents
    epoch* of = nullptr;
  };
  struct more_of_core {
    std::deque<epoch> epochs;  // the last one is the current one
    uint32_t next_turn = 1;
    std::vector<uint64_t> wanted;  // pages that are hot enough
    std::deque<copying> copies;
    std::vector<uint64_t> undo_pages;  // of the transaction
    ticks left = 0;  // when those of its lines are durable that left the first cache
  };

  void beginning(unsigned core) override;
  ticks committing(unsigned core, ticks at) override;
  void finish_copies(unsigned core, ticks now);
  bool is_logged(unsigned core, uint64_t line);
  void append(unsigned core, record_kind kind, uint64_t line, ticks at);
  void copy_page(unsigned core, uint64_t page, ticks at);
  void cool_others(unsigned core);
  ticks turn_epoch(unsigned core, ticks at);
  ticks clear_oldest(unsigned core, ticks at);

  bool persist_data_;
  uint64_t clock_ = 0;
  std::vector<more_of_core> more_;
  std::vector<kept> records_;
  struct truncation_point {
    uint64_t time;
    ticks durable;
  };
  std::vector<truncation_point> truncation_points_;
  struct drop {
    unsigned core;
    uint32_t turn;
    ticks durable;
  };
  std::vector<drop> drops_;  // epochs, one by one: without HPMT-9
  double log_bytes_sum_ = 0;
};

}  // namespace scute::sim
