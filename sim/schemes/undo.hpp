// SPDX-License-Identifier: BSD-3-Clause
// Undo logging by lines: the old bytes are durable before the line may become durable, the new ones
// before the record of the commit is.
//
// UNDO-1 A record is durable before its line may leave the caches.
// UNDO-2 The lines of a transaction are durable before its commit record is.
// UNDO-3 Recovery restores the lines of transactions that have no commit record, and of no others.
#pragma once

#include "schemes/scheme.hpp"

namespace scute::sim {

class undo_logging : public scheme {
 public:
  using scheme::scheme;
  recovered recover(ticks crash) const override;

  // Planted bugs, for tests: each leaves one rule out.
  bool plant_no_wait = false, plant_early_commit = false, plant_restore_new = false;

 protected:
  static constexpr unsigned record_bytes = 72, commit_bytes = 16;

  // The old bytes of a line that is new in the transaction; when they are durable.
  ticks log_old(unsigned core, uint64_t line, unsigned bytes, ticks at);
  ticks committing(unsigned core, ticks at) override;

 private:
  struct kept {
    uint32_t transaction;
    bool commit;
    unsigned core;
    size_t number;  // in the log
    uint64_t line;
    line_bytes_of old;
  };
  std::vector<kept> records_;
};

// EDE-like: only the logged line waits.
class ede_like final : public undo_logging {
 public:
  using undo_logging::undo_logging;
  ticks storing(unsigned core, uint64_t address, unsigned bytes, l1_line& l, tlb_page&,
                ticks at) override;
};

// As libpmemobj: the program itself logs each line, flushes it and waits, and after the commit
// empties the log.
class software_undo final : public undo_logging {
 public:
  using undo_logging::undo_logging;
  ticks storing(unsigned core, uint64_t address, unsigned bytes, l1_line& l, tlb_page&,
                ticks at) override;

 private:
  ticks committing(unsigned core, ticks at) override;
};

}  // namespace scute::sim
