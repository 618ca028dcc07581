// SPDX-License-Identifier: BSD-3-Clause
// A way to make transactions atomic and durable, in hardware or in software that the machine is
// charged for. The program says where its transactions begin and end; the caches say what happens
// to lines in between.
//
// SCHEME-1 When end() has returned, the transaction is durable at the core's time then: a power
//    failure at that time or later does not lose it. The cores wait for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "machine/contents.hpp"
#include "machine/machine.hpp"
#include "machine/observer.hpp"
#include "rules/records.hpp"
#include "schemes/log_area.hpp"

namespace scute::sim {

class scheme : public observer {
 public:
  explicit scheme(machine& m);
  ~scheme() override;
  scheme(const scheme&) = delete;
  scheme& operator=(const scheme&) = delete;

  // Of a core's program. Transactions of one core do not overlap or nest.
  void begin(unsigned core);
  void end(unsigned core);
  bool is_open(unsigned core) const { return cores_[core].open; }
  unsigned cores() const noexcept { return static_cast<unsigned>(cores_.size()); }

  // From now on the scheme keeps what recover() needs, and reports to `c` each line that becomes
  // durable. Before the first transaction.
  void keep_contents(contents& c);

  struct recovered {
    image memory;
    std::vector<uint32_t> committed;  // transactions, in no order
  };
  // Returns the result of recovery after a power failure at that time. Needs keep_contents().
  virtual recovered recover(ticks crash) const = 0;
  // The number of the transaction that the core has open, or had last: 1, 2, ... in the order of
  // their begins.
  uint32_t transaction(unsigned core) const { return cores_[core].transaction; }
  // All times at which a part of a log became durable.
  std::vector<ticks> log_moments() const;

  struct counts {
    uint64_t transactions = 0, log_lines = 0, data_lines = 0, undo_records = 0, line_records = 0,
             page_records = 0, epochs_cleared = 0;
    double log_bytes_mean = 0;  // alive, over the ends of transactions
  };
  virtual counts counted() const;

 protected:
  struct per_core {
    per_core(memory& m, unsigned number) : log(m, number) {}
    log_area log;
    bool open = false;
    uint32_t transaction = 0;
    std::vector<uint64_t> touched;      // lines, in the order of their first stores
    std::unordered_set<uint64_t> seen;  // the same, for schemes that look a line up
  };

  virtual void beginning(unsigned /*core*/) {}
  // All stores of the transaction are made by that time; returns when it is durable.
  virtual ticks committing(unsigned core, ticks at) = 0;
  // True if the line is new in the transaction.
  bool touch(per_core& c, uint64_t line);
  ticks write_back_touched(unsigned core, ticks at);

  machine& machine_;
  std::vector<per_core> cores_;
  contents* contents_ = nullptr;
  counts counts_;

 private:
  uint32_t next_transaction_ = 1;
};

struct scheme_kind {
  std::string_view name, what;
  std::unique_ptr<scheme> (*make)(machine& m);
  bool consistent;  // after a crash
};
const std::vector<scheme_kind>& scheme_kinds();
// Throws std::invalid_argument.
std::unique_ptr<scheme> make_scheme(std::string_view name, machine& m);

}  // namespace scute::sim
